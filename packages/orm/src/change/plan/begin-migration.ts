import { type Kv, ulid } from "@keywright/core";
import type { CompiledIndex } from "../../model/compiled-model.js";
import {
  type CatalogEntry,
  isMaintained,
  nextOf,
  placesOf,
  rowManifestKey,
  type StoredIndex,
  type StoredSchema,
  storedIndex,
  transformMarkKey,
  transformsOf,
  withEarlierDefinition,
  withFormat,
  withoutEarlierDefinition,
  withoutLeaving,
  withoutNext,
} from "../../state/catalog/catalog-entry.js";
import { hasEntries } from "../../state/catalog/has-entries.js";
import { recordEarlierSchemas } from "../../state/catalog/record-earlier-schemas.js";
import { withCode } from "../../state/catalog/recorded-code.js";
import { storedDefinition } from "../../state/catalog/stored-indexes.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { canonicalJson } from "../../state/schema/manifests/hash.js";
import { indexManifest, isSameIndex } from "../../state/schema/manifests/index-manifest.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { unfilledCopies } from "../../state/schema/manifests/model-manifest.js";
import { storedManifest } from "../../state/schema/manifests/row-manifest.js";
import { findUpgrade } from "../../state/schema/upgrade/row-upgrade.js";
import { again, retry } from "../../state/transaction/retry.js";
import { leftFields } from "./left-fields.js";
import type { MigrationStep, ModelFacts } from "./migration-plan.js";
import { countersAfter } from "./plan-counters.js";
import { isRebuiltBeside, renamedIndexes } from "./plan-indexes.js";
import { readFacts } from "./plan-migration.js";
import { planModel } from "./plan-model.js";

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
    const { manifest } = catalog.programRows;
    const entry = withFormat(await plannedEntry(context, facts));
    if (canonicalJson(entry) === canonicalJson(facts.entry)) {
      return await recordFunctions(context, lease, facts);
    }
    const operation = kv
      .atomic()
      .check(check)
      .set(check.key, entry)
      .set(rowManifestKey(model, manifest.hash), {
        ...storedManifest(model.schema, manifest),
        ...remainingFields(facts, manifest),
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
  { storedRow }: ModelFacts,
): Promise<void> {
  const { manifest } = catalog.programRows;
  if (storedRow?.hash !== manifest.hash) return;
  const { functions, ...recorded } = storedRow;
  const current = storedManifest(model.schema, recorded);
  if (canonicalJson(current.functions ?? {}) === canonicalJson(functions ?? {})) return;
  const { check } = catalog.snapshot;
  const key = rowManifestKey(model, manifest.hash);
  await lease.commit(kv.atomic().check(check).set(key, current));
}

async function plannedEntry(context: TableContext, facts: ModelFacts): Promise<CatalogEntry> {
  const { kv, model } = context;
  const { steps } = planModel(facts);
  const { unfilled: _, ...entry } = facts.entry;
  const unfilled = unfilledCopies(facts.relations, facts.entry).map(({ text }) => text);
  return withCode(model, {
    ...entry,
    name: model.name,
    relations: facts.relations,
    ...(unfilled.length > 0 && { unfilled }),
    indexes: await plannedIndexes(kv, facts, steps),
    ...countersAfter(facts, steps, changedIndexes(facts, steps)),
    ...plannedRows(context, facts),
  });
}

async function plannedIndexes(
  kv: Kv,
  facts: ModelFacts,
  steps: readonly MigrationStep[],
): Promise<CatalogEntry["indexes"]> {
  const newNames = new Map(
    [...renamedIndexes(facts)].map(([newName, oldName]) => [oldName, newName]),
  );
  const changed = changedIndexes(facts, steps);
  const indexes: Record<string, StoredIndex> = {};
  for (const [oldName, stored] of Object.entries(facts.entry.indexes)) {
    const name = newNames.get(oldName) ?? oldName;
    const declared = facts.model.indexes.find((index) => index.name === name);
    if (!changed.has(name)) indexes[name] = keptIndex(facts, name, stored);
    else if (declared !== undefined && isRebuiltBeside(facts, declared, stored))
      indexes[name] = await rebuiltIndex(
        kv,
        declared,
        stored,
        usedPlaces(facts, declared, indexes),
      );
    else if (stored.next && declared !== undefined && isSameIndex(stored, indexManifest(declared)))
      indexes[name] = withoutNext(stored);
    else indexes[name] = droppedIndex(facts, name, stored);
  }
  return indexes;
}

/** Returns the names of the indexes that steps remove, rebuild, or no longer rebuild. */
function changedIndexes(
  { model, entry }: ModelFacts,
  steps: readonly MigrationStep[],
): ReadonlySet<string> {
  const names = indexNamesOf(steps, ["drop-index", "rebuild-index"]);
  for (const [name, { state, next, leaving, leftPlaces }] of Object.entries(entry.indexes)) {
    const isDeclared = model.indexes.some((index) => index.name === name);
    // Only the removal of what is left continues.
    const isUnchanged = isDeclared && isMaintained(state) && next === undefined;
    const isRebuilt = steps.some(({ kind, index }) => kind === "rebuild-index" && index === name);
    const hasLeft = leaving !== undefined || leftPlaces !== undefined;
    if (hasLeft && isUnchanged && !isRebuilt) names.delete(name);
  }
  return names;
}

/** Returns the places where other indexes have or will have entries, and those of an index. */
function usedPlaces(
  { model, entry }: ModelFacts,
  index: CompiledIndex,
  planned: CatalogEntry["indexes"],
): string[] {
  const stored = [entry.indexes, planned].flatMap((indexes) => Object.values(indexes));
  const others = model.indexes.filter((other) => other !== index);
  return [...stored.flatMap(placesOf), ...others.map(({ prefix }) => prefix)];
}

/**
 * Adds the new definition of an index, whose entries get a place of their own.
 *
 * @param used the places that they cannot have.
 */
async function rebuiltIndex(
  kv: Kv,
  index: CompiledIndex,
  stored: StoredIndex,
  used: readonly string[],
): Promise<StoredIndex> {
  if (nextOf(stored, index) !== undefined) return stored;
  const current = withoutEarlierDefinition(withoutNext(stored), indexManifest(index));
  const place = await freePlace(kv, index.prefix, used);
  const next = storedIndex(index, "absent");
  return { ...current, next: place === index.prefix ? next : { ...next, place } };
}

/** Returns a prefix without entries: the declared one, or one with a number. */
async function freePlace(kv: Kv, prefix: string, used: readonly string[]): Promise<string> {
  for (let number = 1; ; number++) {
    const place = number === 1 ? prefix : `${prefix} ${number}`;
    if (!used.includes(place) && !(await hasEntries(kv, place))) return place;
  }
}

/**
 * Records the definition as an earlier one, unless the model has the same. The model's definition
 * is no longer an earlier one.
 */
function droppedIndex({ model }: ModelFacts, name: string, stored: StoredIndex): StoredIndex {
  const declared = model.indexes.find((index) => index.name === name);
  const isSame = declared !== undefined && isSameIndex(stored, indexManifest(declared));
  const current = withoutLeaving(withoutNext(stored));
  const dropped = isSame ? current : withEarlierDefinition(current);
  const index: StoredIndex = { ...dropped, state: "dropping" };
  return declared === undefined ? index : withoutEarlierDefinition(index, indexManifest(declared));
}

/**
 * The definition of an index that is built again is no longer an earlier one.
 */
function keptIndex({ model }: ModelFacts, name: string, before: StoredIndex): StoredIndex {
  const index = model.indexes.find((one) => one.name === name);
  const { leaving } = before;
  // This program could not maintain the replaced definition.
  const isGivenUp = index && leaving && storedDefinition(model, index, leaving) === undefined;
  const stored = isGivenUp ? withoutLeaving(before) : before;
  return index !== undefined && !isMaintained(stored.state)
    ? withoutEarlierDefinition(stored, indexManifest(index))
    : stored;
}

function indexNamesOf(
  steps: readonly MigrationStep[],
  kinds: readonly MigrationStep["kind"][],
): Set<string> {
  return new Set(
    steps.flatMap(({ kind, index }) =>
      kinds.includes(kind) && index !== undefined ? [index] : [],
    ),
  );
}

function remainingFields(facts: ModelFacts, manifest: RowManifest): Pick<RowManifest, "left"> {
  const left = leftFields(facts, manifest);
  return Object.keys(left).length === 0 ? {} : { left };
}

function plannedRows(
  { catalog }: TableContext,
  { model, entry, storedRow, migrations }: ModelFacts,
): Pick<CatalogEntry, "schema" | "transform"> {
  const { manifest } = catalog.programRows;
  const { schema } = entry;
  if (schema === undefined) return { schema: { hash: manifest.hash, accepts: [] } };
  const isKnown = schema.hash === manifest.hash || schema.accepts.includes(manifest.hash);
  if (isKnown || storedRow === undefined) return {};
  const upgrade = findUpgrade(storedRow, model, manifest, migrations);
  if (upgrade === undefined) return {};
  const accepts = upgrade.sideBySide ? [...schema.accepts, schema.hash] : [];
  const nextSchema: StoredSchema = { hash: manifest.hash, accepts };
  if (upgrade.isIdentity) return { schema: nextSchema };
  // Rows that an interrupted transform has not reached are changed to the new schema at once.
  const earlier = transformsOf(entry.transform);
  const transform = { id: ulid(), from: schema.hash, ...(earlier.length > 0 && { earlier }) };
  return { schema: nextSchema, transform };
}
