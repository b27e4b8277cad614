import { duplicatesPrefix } from "../../state/catalog/backfill-state.js";
import {
  type CatalogEntry,
  isMaintained,
  type PlacedIndex,
  placeOf,
  type StoredIndex,
  storedIndexOf,
  withoutLeaving,
} from "../../state/catalog/catalog-entry.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import type { Drop, Maintenance } from "../maintenance.js";
import { backfill } from "./fill/backfill.js";
import { indexSteps } from "./index-steps.js";
import { plannedIndexes } from "./planned-indexes.js";
import { entriesVerifier } from "./verify/entries-verifier.js";

/** Fills new indexes, and removes the entries of dropped ones. */
export const entriesMaintenance: Maintenance = {
  name: "entries",
  steps: indexSteps,
  async begin(entry, facts, steps, kv) {
    return { ...entry, indexes: await plannedIndexes(facts, steps, kv) };
  },
  disable,
  placesOfIndex({ model, name, stored, isShared }) {
    const duplicates = duplicatesPrefix(model, name);
    return isShared ? [duplicates] : [[placeOf(stored)], duplicates];
  },
  nextDrop,
  build: backfill,
  verifier: entriesVerifier,
};

function disable(entry: CatalogEntry, _: ModelFacts, planned: CatalogEntry): CatalogEntry {
  const definitions = Object.values(planned.indexes).flatMap(definitionsOf);
  const maintained = new Set(definitions.filter(({ state }) => isMaintained(state)).map(placeOf));
  const disabled = <I extends PlacedIndex>(one: I): I =>
    one.state === "readable" && !maintained.has(placeOf(one)) ? { ...one, state: "disabled" } : one;
  return withIndexes(entry, ({ leaving, ...index }) => {
    return { ...disabled(index), ...(leaving && { leaving: disabled(leaving) }) };
  });
}

function definitionsOf(index: StoredIndex): PlacedIndex[] {
  return [index, index.next, index.leaving].flatMap((one) => one ?? []);
}

function nextDrop({ model, catalog }: ModelStore): Drop | undefined {
  const { entry } = catalog.snapshot;
  for (const [name, stored] of Object.entries(entry.indexes)) {
    const state = stored.leaving?.state;
    if (state !== undefined) {
      // Writers maintain it until all programs know that it is no longer to be read.
      const change = state === "disabled" ? withoutLeaving : withDisabledLeaving;
      const isNext = (index: StoredIndex) => index.leaving?.state === state;
      return {
        prefixes: [],
        isRead: true,
        removeFrom: (current) => withIndexes(current, (one) => (isNext(one) ? change(one) : one)),
      };
    }
    const [left] = stored.leftPlaces ?? [];
    if (left !== undefined) {
      return {
        prefixes: [[left], ...(hasDuplicates(stored) ? [] : [duplicatesPrefix(model, name)])],
        removeFrom: (current) => withIndex(current, name, (one) => withoutLeftPlace(one, left)),
      };
    }
    if (stored.state !== "dropping") continue;
    const isShared = isPlaceUsed(entry, name, stored);
    return {
      index: { model, name, stored, entry, isShared },
      prefixes: [],
      removeFrom: (current) => withAbsentIndex(current, name),
    };
  }
  return undefined;
}

/** True if the index, or the definition with which it is being rebuilt, may have duplicates. */
function hasDuplicates({ state, next }: StoredIndex): boolean {
  return state === "unique-pending" || isMaintained(next?.state ?? "absent");
}

function isPlaceUsed({ indexes }: CatalogEntry, name: string, dropped: StoredIndex): boolean {
  return Object.entries(indexes).some(([other, index]) => {
    return (
      other !== name &&
      definitionsOf(index).some(
        (one) => placeOf(one) === placeOf(dropped) && isMaintained(one.state),
      )
    );
  });
}

function withoutLeftPlace({ leftPlaces = [], ...index }: StoredIndex, place: string): StoredIndex {
  const others = leftPlaces.filter((other) => other !== place);
  return others.length === 0 ? index : { ...index, leftPlaces: others };
}

function withDisabledLeaving({ leaving, ...index }: StoredIndex): StoredIndex {
  return leaving === undefined ? index : { ...index, leaving: { ...leaving, state: "disabled" } };
}

function withAbsentIndex(entry: CatalogEntry, name: string): CatalogEntry {
  return withIndex(entry, name, (index) => ({ ...index, state: "absent" }));
}

function withIndexes(
  entry: CatalogEntry,
  change: (index: StoredIndex) => StoredIndex,
): CatalogEntry {
  const changed = Object.entries(entry.indexes).map(([name, index]) => [name, change(index)]);
  return { ...entry, indexes: Object.fromEntries(changed) };
}

function withIndex(
  entry: CatalogEntry,
  name: string,
  change: (index: StoredIndex) => StoredIndex,
): CatalogEntry {
  const index = storedIndexOf(entry, name);
  if (index === undefined) return entry;
  return { ...entry, indexes: { ...entry.indexes, [name]: change(index) } };
}
