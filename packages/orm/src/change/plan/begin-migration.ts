import { type Kv, ulid } from "@keywright/core";
import { maintained, waitForReaders } from "../../derived/build-derived.js";
import {
  type CatalogEntry,
  type StoredSchema,
  transformMarkKey,
  transformsOf,
  withFormat,
} from "../../state/catalog/catalog-entry.js";
import { recordEarlierSchemas, rowManifestKey } from "../../state/catalog/row-manifests.js";
import { withCode } from "../../state/catalog/stored-indexes.js";
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
 * Begins the plans of models: see {@link beginMigration}. What they drop is disabled first. Writers
 * maintain it until all programs have read the catalog again, so that no program reads what others
 * no longer maintain.
 *
 * @returns false if the signal stopped it. The next call resumes.
 */
export async function beginMigrations(
  contexts: readonly TableContext[],
  run: MigrationRun,
): Promise<boolean> {
  const [first] = contexts;
  if (first === undefined) return true;
  for (;;) {
    let hasDrops = false;
    for (const context of contexts) hasDrops = (await disableDropped(context, run)) || hasDrops;
    if (hasDrops && !(await waitForReaders(first, run))) return false;
    let hasBegun = true;
    for (const context of contexts) hasBegun = (await beginMigration(context, run)) && hasBegun;
    if (hasBegun) return true;
  }
}

/**
 * Disables what the plan of a model drops.
 *
 * @returns true if there is something, or if an earlier run has left something to drop.
 */
async function disableDropped(context: TableContext, { lease }: MigrationRun): Promise<boolean> {
  const { kv, catalog } = context;
  return await retry(async () => {
    const facts = await readFacts(context);
    const { check } = catalog.snapshot;
    const disabled = withDisabled(facts, await plannedEntry(kv, facts));
    if (disabled === undefined) return isDropped(facts.entry);
    const { ok } = await lease.commit(kv.atomic().check(check).set(check.key, disabled));
    return ok ? true : again;
  });
}

/** Returns undefined if programs read nothing that a planned entry no longer has maintained. */
function withDisabled(facts: ModelFacts, planned: CatalogEntry): CatalogEntry | undefined {
  let { entry } = facts;
  for (const kind of maintained) entry = kind.disable?.(entry, facts, planned) ?? entry;
  return canonicalJson(entry) === canonicalJson(facts.entry) ? undefined : entry;
}

/** True if an earlier run has disabled something, and may have been killed before others knew. */
function isDropped({ indexes, counters = {} }: CatalogEntry): boolean {
  const states = Object.values(indexes).flatMap(({ isOther, state, leaving }) =>
    isOther ? [] : [state, leaving?.state],
  );
  return [...states, ...Object.values(counters)].some(
    (state) => state === "disabled" || state === "dropping",
  );
}

/**
 * Begins the plan of a model with one commit. From then on, the catalog has the new schema of the
 * rows and the new names of relations and indexes, and it lists the transform, if one is needed,
 * and the indexes and counters that are dropped. The commit is the fence: writes that were planned
 * earlier fail and are planned again, and programs that the new schema does not accept can no
 * longer write. Nothing is written if the catalog has all of this already.
 *
 * @returns false if programs may still read something that the plan drops.
 */
async function beginMigration(context: TableContext, { lease }: MigrationRun): Promise<boolean> {
  const { kv, model, catalog } = context;
  return await retry(async () => {
    const facts = await readFacts(context);
    const { check } = catalog.snapshot;
    const { manifest } = facts;
    const entry = withFormat(await plannedEntry(kv, facts));
    if (withDisabled(facts, entry) !== undefined) return false;
    if (canonicalJson(entry) === canonicalJson(facts.entry)) {
      await recordFunctions(context, lease, facts);
      return true;
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
    return true;
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
