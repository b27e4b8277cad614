import { type Kv, ulid } from "@keywright/core";
import { maintained } from "../../derived/build-derived.js";
import {
  type CatalogEntry,
  type StoredSchema,
  transformMarkKey,
  transformsOf,
  withFormat,
} from "../../state/catalog/catalog-entry.js";
import { withCode } from "../../state/catalog/recorded-code.js";
import { recordEarlierSchemas, rowManifestKey } from "../../state/catalog/row-manifests.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import { canonicalJson } from "../../state/schema/manifests/hash.js";
import { storedManifest } from "../../state/schema/manifests/row-manifest.js";
import { again, retry } from "../../state/transaction/retry.js";
import { planModel } from "./plan-migration.js";
import { readFacts } from "./read-facts.js";
import { leftFields } from "./remove-values.js";

/**
 * Begins the plan of a model with one commit. From then on, the catalog has the new schema of the
 * rows and the new names of relations and indexes, and it lists the transform, if one is needed,
 * and the indexes and counters that are dropped. The commit is the fence: writes that were planned
 * earlier fail and are planned again, and programs that the new schema does not accept can no
 * longer write. Nothing is written if the catalog has all of this already.
 */
export async function beginMigration(
  context: TableContext,
  { lease }: MigrationRun,
): Promise<void> {
  const { kv, model, catalog } = context;
  await retry(async () => {
    const facts = await readFacts(context);
    const { check } = catalog.snapshot;
    const { manifest } = facts;
    const entry = withFormat(await plannedEntry(kv, facts));
    if (canonicalJson(entry) === canonicalJson(facts.entry)) {
      return await recordFunctions(context, lease, facts);
    }
    const left = leftFields(facts);
    const operation = kv
      .atomic()
      .check(check)
      .set(check.key, entry)
      .set(rowManifestKey(model, manifest.hash), {
        ...storedManifest(model.schema, manifest),
        ...(Object.keys(left).length > 0 && { left }),
      });
    const { transform } = entry;
    if (transform !== undefined && transform.id !== facts.entry.transform?.id) {
      operation.set(transformMarkKey(model, transform.id), { format: 1 });
    }
    const { ok } = await lease.commit(operation);
    await catalog.reload();
    if (!ok) return again;
    await recordEarlierSchemas(kv, model, catalog.programRows);
    return undefined;
  });
}

/** Records the functions of a schema that has not changed otherwise, so that plans do not warn. */
async function recordFunctions(
  { kv, model, catalog }: TableContext,
  lease: MigrationRun["lease"],
  { storedRow, manifest }: ModelFacts,
): Promise<void> {
  if (storedRow?.hash !== manifest.hash) return;
  const { functions, ...recorded } = storedRow;
  const current = storedManifest(model.schema, recorded);
  if (canonicalJson(current.functions ?? {}) === canonicalJson(functions ?? {})) return;
  const { check } = catalog.snapshot;
  const key = rowManifestKey(model, manifest.hash);
  await lease.commit(kv.atomic().check(check).set(key, current));
}

async function plannedEntry(kv: Kv, facts: ModelFacts): Promise<CatalogEntry> {
  const { model, relations } = facts;
  const { steps } = planModel(facts);
  let entry: CatalogEntry = { ...facts.entry, name: model.name, relations };
  for (const kind of maintained) {
    entry = (await kind.begin?.(entry, facts, steps, kv)) ?? entry;
  }
  return withCode(model, { ...entry, ...plannedRows(facts) });
}

function plannedRows({
  entry,
  manifest,
  upgrade,
  isAccepted,
}: ModelFacts): Pick<CatalogEntry, "schema" | "transform"> {
  const { schema } = entry;
  if (schema === undefined) return { schema: { hash: manifest.hash, accepts: [] } };
  if (schema.hash === manifest.hash || isAccepted || upgrade === undefined) return {};
  const accepts = upgrade.sideBySide ? [...schema.accepts, schema.hash] : [];
  const nextSchema: StoredSchema = { hash: manifest.hash, accepts };
  if (upgrade.isIdentity) return { schema: nextSchema };
  // Rows that an interrupted transform has not reached are changed to the new schema at once.
  const earlier = transformsOf(entry.transform);
  const transform = { id: ulid(), from: schema.hash, ...(earlier.length > 0 && { earlier }) };
  return { schema: nextSchema, transform };
}
