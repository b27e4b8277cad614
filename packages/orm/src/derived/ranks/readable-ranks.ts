import { UnindexedQueryError } from "../../errors/query-errors.js";
import { IndexNotReadyError } from "../../errors/schema-errors.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { type RankedTable, rankedCounterOf, rankedTable } from "./ranked-table.js";

/** Returns the intervals of an index, if it is ranked and they can be read. */
export function findRanks(
  store: ModelStore,
  index: CompiledIndex | undefined,
  sums: readonly string[] = [],
): RankedTable | undefined {
  const { model, catalog } = store;
  const counter = rankedCounterOf(model, index);
  if (index === undefined || counter === undefined) return undefined;
  const { snapshot } = catalog;
  const isSummed = (field: string) =>
    !snapshot.mayDiffer(field) && counter.ranked?.some((sum) => sum.field === field) === true;
  if (!sums.every(isSummed) || !snapshot.canRead(index)) return undefined;
  if (snapshot.counterState(counter.name) !== "readable") return undefined;
  return rankedTable(store, counter);
}

/**
 * Returns the intervals of an index that a call needs.
 *
 * @param option the option of the call that needs them.
 * @throws {UnindexedQueryError} if the index is not ranked.
 * @throws {IndexNotReadyError} if its ranks are not built.
 */
export async function readableRanks(
  store: ModelStore,
  index: CompiledIndex | undefined,
  option: string,
): Promise<RankedTable> {
  const { model, catalog } = store;
  const counter = rankedCounterOf(model, index);
  if (index === undefined || counter === undefined) throw unranked(model.name, index, option);
  await catalog.refresh();
  const ranks = findRanks(store, index);
  if (ranks !== undefined) return ranks;
  await catalog.reload();
  const reloaded = findRanks(store, index);
  if (reloaded !== undefined) return reloaded;
  await catalog.assertReadable(index);
  const state = catalog.snapshot.counterState(counter.name);
  const unready = state === "readable" ? "outdated" : state;
  const subject = `the ranks of the index ${index.name}`;
  throw new IndexNotReadyError(model.name, counter.name, unready, undefined, subject);
}

function unranked(
  model: string,
  index: CompiledIndex | undefined,
  option: string,
): UnindexedQueryError {
  const fields = index?.fields ?? [];
  const key = fields.map((field) => JSON.stringify(field)).join(", ");
  const suggestion = `{ key: [${key}], ranked: true }`;
  const text =
    index === undefined
      ? `${option} needs an index with ranked: true, and the query reads the rows by their primary key; declare such an index for its conditions and its order`
      : `${option} needs ranked: true on the index ${index.name}; declare it, or read the pages one after another with the cursor`;
  return new UnindexedQueryError(model, fields, suggestion, text);
}
