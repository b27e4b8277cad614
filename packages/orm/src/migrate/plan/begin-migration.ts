import { ulid } from "@keywright/core";
import {
  asEarlier,
  type CatalogEntry,
  type IndexState,
  rowManifestKey,
  type StoredIndex,
  type StoredSchema,
  transformMarkKey,
} from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import { canonicalJson } from "../../schema/hash.js";
import { indexManifest, isSameIndex } from "../../schema/index-manifest.js";
import type { RowManifest } from "../../schema/manifest.js";
import { findUpgrade } from "../../schema/row-upgrade.js";
import type { MigrationRun } from "../run/migration-run.js";
import type { MigrationStep, ModelFacts } from "./migration-plan.js";
import { readFacts } from "./plan-facts.js";
import { renamedCounters, renamedIndexes } from "./plan-indexes.js";
import { planModel } from "./plan-migration.js";

/**
 * Begins what a plan of a model comes to, by one commit: the catalog says from then on which rows the model has, that a change
 * of them is under way, what its relations and indexes are called, and which indexes and counters go. It is the fence: who
 * planned a write before plans it anew, and programs that the new schema leaves behind write no more. Nothing is written where
 * the catalog says so already.
 *
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function beginMigration(
  context: TableContext,
  { lease }: MigrationRun,
): Promise<void> {
  const { kv, model, catalog } = context;
  for (;;) {
    const facts = await readFacts(context);
    const { check } = catalog.snapshot;
    const { manifest } = catalog.ownRows;
    const entry = begunEntry(context, facts);
    if (canonicalJson(entry) === canonicalJson(facts.entry)) return;
    const operation = kv
      .atomic()
      .check(check)
      .set(check.key, entry)
      .set(rowManifestKey(model, manifest.hash), { ...manifest, ...leftFields(facts, manifest) });
    const { transform } = entry;
    if (transform !== undefined && transform.id !== facts.entry.transform?.id) {
      operation.set(transformMarkKey(model, transform.id), { format: 1 });
    }
    const { ok } = await lease.commit(operation);
    await catalog.reload();
    if (ok) return;
  }
}

function begunEntry(context: TableContext, facts: ModelFacts): CatalogEntry {
  const { model } = context;
  const { steps } = planModel(facts);
  const { entry } = facts;
  return {
    ...entry,
    name: model.name,
    relations: facts.relations,
    indexes: begunIndexes(facts, steps),
    ...begunCounters(facts, steps),
    ...begunRows(context, facts),
  };
}

/** Indexes under the names that they have now, those that go as such. */
function begunIndexes(facts: ModelFacts, steps: readonly MigrationStep[]): CatalogEntry["indexes"] {
  const names = new Map([...renamedIndexes(facts)].map(([now, before]) => [before, now]));
  const going = namesOf(steps, ["drop-index", "rebuild-index"]);
  const indexes: Record<string, StoredIndex> = {};
  for (const [before, stored] of Object.entries(facts.entry.indexes)) {
    const name = names.get(before) ?? before;
    indexes[name] = going.has(name)
      ? goingIndex(facts, name, stored)
      : stayingIndex(facts, name, stored);
  }
  return indexes;
}

/** An index whose entries go: it is remembered as an earlier one where the model has none like it. */
function goingIndex({ model }: ModelFacts, name: string, stored: StoredIndex): StoredIndex {
  const declared = model.indexes.find((index) => index.name === name);
  const isSame = declared !== undefined && isSameIndex(stored, indexManifest(declared));
  return { ...(isSame ? stored : asEarlier(stored)), state: "dropping" };
}

/** An index that stays. One that was kept up beside its successor is read again where the model has that no more. */
function stayingIndex({ model }: ModelFacts, name: string, stored: StoredIndex): StoredIndex {
  const { replacedBy, ...own } = stored;
  if (stored.state !== "disabled" || replacedBy === undefined) return stored;
  const declared = model.indexes.map((index) => index.name);
  return declared.includes(replacedBy) || !declared.includes(name)
    ? stored
    : { ...own, state: "readable" };
}

/** Counters that go, and those of indexes that do. */
function begunCounters(
  facts: ModelFacts,
  steps: readonly MigrationStep[],
): Pick<CatalogEntry, "counters"> {
  if (facts.entry.counters === undefined) return {};
  const counters = renamedCounters(facts);
  const going = namesOf(steps, ["drop-index", "rebuild-index"]);
  for (const { kind, counter } of steps) {
    if (kind === "drop-counter" && counter !== undefined) going.add(counter);
  }
  const begun: Record<string, IndexState> = {};
  for (const [name, state] of Object.entries(counters)) {
    // How far its build has come is known under the name before: it is absent, and built from the start.
    if (state === "write-only" && !Object.hasOwn(facts.entry.counters, name)) continue;
    begun[name] = going.has(name) ? "dropping" : state;
  }
  return { counters: begun };
}

function namesOf(
  steps: readonly MigrationStep[],
  kinds: readonly MigrationStep["kind"][],
): Set<string> {
  return new Set(
    steps.flatMap(({ kind, index }) =>
      kinds.includes(kind) && index !== undefined ? [index] : [],
    ),
  );
}

/** The fields that stored rows may hold beside those of the model: those that went, and that no migration takes care of. */
function leftFields(
  { model, storedRow, migrations }: ModelFacts,
  manifest: RowManifest,
): Pick<RowManifest, "left"> {
  if (storedRow === undefined) return {};
  const { changes = [] } = findUpgrade(storedRow, model, manifest, migrations) ?? {};
  const gone = changes.flatMap(({ field }) => {
    const before = Object.hasOwn(storedRow.fields, field) ? storedRow.fields[field] : undefined;
    return before === undefined ? [] : [[field, before] as const];
  });
  const left = [...Object.entries(storedRow.left ?? {}), ...gone].filter(
    ([name]) => !Object.hasOwn(manifest.fields, name),
  );
  return left.length === 0 ? {} : { left: Object.fromEntries(left) };
}

/** Which rows there are from now on, and the change of those that are not such. */
function begunRows(
  { catalog }: TableContext,
  { model, entry, storedRow, migrations }: ModelFacts,
): Pick<CatalogEntry, "schema" | "transform"> {
  const { manifest } = catalog.ownRows;
  const { schema } = entry;
  if (schema === undefined) return { schema: { hash: manifest.hash, accepts: [] } };
  const isKnown = schema.hash === manifest.hash || schema.accepts.includes(manifest.hash);
  if (isKnown || storedRow === undefined) return {};
  const upgrade = findUpgrade(storedRow, model, manifest, migrations);
  if (upgrade === undefined) return {};
  const accepts = upgrade.sideBySide ? [...schema.accepts, schema.hash] : [];
  const begun: StoredSchema = { hash: manifest.hash, accepts };
  if (upgrade.isIdentity) return { schema: begun };
  // The plan says that one change has to be over before another begins.
  if (entry.transform !== undefined) return {};
  return { schema: begun, transform: { id: ulid(), from: schema.hash } };
}
