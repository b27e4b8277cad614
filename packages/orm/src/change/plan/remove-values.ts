import { ulid } from "@keywright/core";
import { hasOtherFields } from "../../model/rows/own-fields.js";
import { transformMarkKey, transformsOf } from "../../state/catalog/catalog-entry.js";
import { rowManifestKey } from "../../state/catalog/row-manifests.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import type { PlannedStep } from "../../state/run/migration-step.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { again, retry } from "../../state/transaction/retry.js";
import type { LeftValues } from "./migration-plan.js";
import { readFacts } from "./read-facts.js";

/** Ends the names of fields of which only parts of nested objects are left. */
const partsOf = ".*";

/**
 * Returns the fields that stored rows may still have after a migration to a model, and that no
 * migration removes. A field of which a nested field was removed is there as `"profile.*"`.
 */
export function leftFields({
  storedRow,
  manifest,
  upgrade,
}: ModelFacts): NonNullable<RowManifest["left"]> {
  if (storedRow === undefined) return {};
  const { changes = [] } = upgrade ?? {};
  const removed = changes.flatMap(({ field, kind, class: of }) => {
    const before = Object.hasOwn(storedRow.fields, field) ? storedRow.fields[field] : undefined;
    if (before === undefined) return [];
    const isPart = kind === "changed" && of === "breaking";
    return kind === "changed" && !isPart
      ? []
      : [[isPart ? field + partsOf : field, before] as const];
  });
  const remaining = [...Object.entries(storedRow.left ?? {}), ...removed];
  return Object.fromEntries(remaining.filter(([name]) => !Object.hasOwn(manifest.fields, name)));
}

/** Returns the fields whose values are left in the rows of a model and can be removed. */
export function leftValues({ model, manifest, entry, storedRow }: ModelFacts): LeftValues[] {
  const names = Object.keys(storedRow?.left ?? {});
  const fields = names.filter((name) => !Object.hasOwn(manifest.fields, name));
  if (entry.schema?.hash !== manifest.hash || fields.length === 0 || hasOtherFields(model.schema))
    return [];
  return [{ model: model.name, fields }];
}

/** Plans the removal of the values of removed fields, if the run is to remove them. */
export function planRemoval(facts: ModelFacts): PlannedStep[] {
  const { model, isAccepted, removesValues = false } = facts;
  if (!removesValues || isAccepted || hasOtherFields(model.schema)) return [];
  const fields = Object.keys(leftFields(facts));
  if (fields.length === 0) return [];
  const reason = `The values of ${leftText(fields)} are removed from every row of ${model.name}. This cannot be undone. Programs that still need these fields can no longer read the rows.`;
  return [{ kind: "remove-values", class: "breaking", sideBySide: true, reason }];
}

/** `["ssn", "profile.*"]` → `"ssn, removed parts of profile"`. */
export function leftText(fields: readonly string[]): string {
  const names = fields.map((field) =>
    field.endsWith(partsOf) ? `removed parts of ${field.slice(0, -partsOf.length)}` : field,
  );
  return names.join(", ");
}

/**
 * Begins the removal of the values of removed fields from the rows of a model, with one commit. It
 * is a change of all rows to the schema that they have. From then on, a row that was written before
 * the commit is read without these values, and written without them by every update.
 */
export async function beginRemoval(
  context: TableContext,
  { lease }: MigrationRun,
  names: readonly string[] = [],
): Promise<void> {
  const { kv, model, catalog } = context;
  if (!names.includes(model.name)) return;
  await retry(async () => {
    const facts = await readFacts(context);
    const [left] = leftValues(facts);
    const { entry, storedRow } = facts;
    if (left === undefined || storedRow === undefined) return undefined;
    catalog.snapshot.assertWritable();
    const { check } = catalog.snapshot;
    const earlier = transformsOf(entry.transform);
    const transform = {
      ...{ id: ulid(), from: storedRow.hash, removes: left.fields },
      ...(earlier.length > 0 && { earlier }),
    };
    const { left: _, ...manifest } = storedRow;
    const { ok } = await lease.commit(
      kv
        .atomic()
        .check(check)
        .set(check.key, { ...entry, transform })
        .set(rowManifestKey(model, storedRow.hash), manifest)
        .set(transformMarkKey(model, transform.id), { format: 1 }),
    );
    await catalog.reload();
    return ok ? undefined : again;
  });
}
