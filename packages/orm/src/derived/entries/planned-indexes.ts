import type { Kv } from "@keywright/core";
import type { CompiledIndex } from "../../model/compiled-model.js";
import {
  type CatalogEntry,
  isMaintained,
  nextOf,
  placesOf,
  type StoredIndex,
  storedIndex,
  withEarlierDefinition,
  withoutEarlierDefinition,
  withoutLeaving,
  withoutNext,
} from "../../state/catalog/catalog-entry.js";
import { hasEntries } from "../../state/catalog/has-entries.js";
import { storedDefinition } from "../../state/catalog/stored-indexes.js";
import type { MigrationStep } from "../../state/run/migration-step.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import { indexManifest, isSameIndex } from "../../state/schema/manifests/index-manifest.js";
import { isRebuiltBeside, renamedIndexes } from "./index-steps.js";

/** Returns the indexes of the catalog entry of a model once a migration with these steps begins. */
export async function plannedIndexes(
  facts: ModelFacts,
  steps: readonly MigrationStep[],
  kv: Kv,
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
export function changedIndexes(
  { model, entry }: ModelFacts,
  steps: readonly MigrationStep[],
): ReadonlySet<string> {
  const names = indexNamesOf(steps, ["drop-index", "rebuild-index"]);
  for (const [name, { state, next, leaving, leftPlaces }] of Object.entries(entry.indexes)) {
    const isDeclared = model.indexes.some((index) => index.name === name);
    // Only the removal of what is left continues.
    const isKept = isMaintained(state) && state !== "disabled";
    const isUnchanged = isDeclared && isKept && next === undefined;
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
