import { hasOtherFields } from "../../model/rows/own-fields.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { rowManifest } from "../../state/schema/manifests/row-manifest.js";
import { findUpgrade } from "../../state/schema/upgrade/row-upgrade.js";
import type { LeftValues, ModelFacts, PlannedStep } from "./migration-plan.js";

/** Ends the names of fields of which only parts of nested objects are left. */
const partsOf = ".*";

/**
 * Returns the fields that stored rows may still have after a migration to a model, and that no
 * migration removes. A field of which a nested field was removed is there as `"profile.*"`.
 */
export function leftFields(
  { model, storedRow, migrations }: ModelFacts,
  manifest: RowManifest,
): NonNullable<RowManifest["left"]> {
  if (storedRow === undefined) return {};
  const { changes = [] } = findUpgrade(storedRow, model, manifest, migrations) ?? {};
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
export function leftValues({ model, entry, storedRow }: ModelFacts): LeftValues[] {
  const manifest = rowManifest(model.schema, model.primaryKey);
  const names = Object.keys(storedRow?.left ?? {});
  const fields = names.filter((name) => !Object.hasOwn(manifest.fields, name));
  if (entry.schema?.hash !== manifest.hash || fields.length === 0 || hasOtherFields(model.schema))
    return [];
  return [{ model: model.name, fields }];
}

/** Plans the removal of the values of removed fields, if the run is to remove them. */
export function planRemoval(facts: ModelFacts): PlannedStep[] {
  const { model, entry, removesValues = false } = facts;
  if (!removesValues || hasOtherFields(model.schema)) return [];
  const manifest = rowManifest(model.schema, model.primaryKey);
  if (entry.schema?.accepts.includes(manifest.hash)) return [];
  const fields = Object.keys(leftFields(facts, manifest));
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
