import { UnindexedQueryError } from "../../errors/query-errors.js";
import { IndexNotReadyError } from "../../errors/schema-errors.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import type { ReadView } from "../../state/context/read-view.js";
import { type RankedReads, rankedCounterOf, rankedTable } from "./ranked-table.js";

/** Returns the intervals of an index, if it is ranked and they can be read. */
export function findRanks(
  view: ReadView,
  index: CompiledIndex | undefined,
  sums: readonly string[] = [],
): RankedReads | undefined {
  const { model, snapshot } = view;
  const counter = rankedCounterOf(model, index);
  if (index === undefined || counter === undefined) return undefined;
  const isSummed = (field: string) =>
    !snapshot.mayDiffer(field) && counter.ranked?.some((sum) => sum.field === field) === true;
  if (!sums.every(isSummed) || !snapshot.canRead(index)) return undefined;
  if (snapshot.counterState(counter.name) !== "readable") return undefined;
  return rankedTable(view, counter);
}

/**
 * Returns the intervals of an index that a call needs.
 *
 * @param option the option of the call that needs them.
 * @throws {UnindexedQueryError} if the index is not ranked.
 * @throws {IndexNotReadyError} if its ranks are not built.
 */
export async function readableRanks(
  view: ReadView,
  index: CompiledIndex | undefined,
  option: string,
): Promise<RankedReads> {
  const { model } = view;
  const counter = rankedCounterOf(model, index);
  if (index === undefined || counter === undefined) throw unranked(model.name, index, option);
  if (!view.isChecked) await view.refresh();
  const ranks = findRanks(view, index);
  if (ranks !== undefined) return ranks;
  await view.reload();
  const reloaded = findRanks(view, index);
  if (reloaded !== undefined) return reloaded;
  await view.assertReadable(index);
  const state = view.snapshot.counterState(counter.name);
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
