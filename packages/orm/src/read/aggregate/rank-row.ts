import { readableRanks } from "../../derived/ranks/readable-ranks.js";
import { walkEntries } from "../../derived/ranks/walk-entries.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { countOf } from "../../model/aggregates/ranked-amounts.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { indexKeys } from "../../model/keys/index-entries.js";
import { keyAfter } from "../../model/keys/key-parts.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { namedIndexes } from "../../state/schema/named-index.js";
import { findOne } from "../find/find-unique.js";

/** The options of `rank`, for any model. */
export interface AnyRankQuery
  extends Pick<AnyQuery, "where" | "index" | "order" | "maxReads" | "signal"> {
  readonly by?: unknown;
}

/**
 * Returns how many rows precede a row in the order of a ranked index, or among the rows that have
 * the same values of the first fields of the index. Null if the row does not exist, or is not in
 * the index.
 *
 * @throws {UnindexedQueryError} if the index is not ranked.
 */
export async function rankRow(
  view: ReadView,
  query: AnyRankQuery,
  meter: ReadMeter,
): Promise<number | null> {
  const { model } = view;
  const { where, order = "asc" } = query;
  const fail = (argument: string, reason: string): never => {
    throw new InvalidArgumentError(model.name, argument, reason);
  };
  if (typeof query.index !== "string") fail("index", "it must be the name of a ranked index");
  if (!isPlainObject(where)) return fail("where", "it must be a plain object");
  if (order !== "asc" && order !== "desc") fail("order", 'it must be "asc" or "desc"');
  const [index] = namedIndexes(view.queriedModel, query.index!);
  const by = query.by === undefined ? [] : query.by;
  // Within a scope, the row is compared with those of the scope, whatever `by` names.
  const scoped = Object.keys(view.scope ?? {}).length;
  const isScoped = index?.fields
    .slice(0, scoped)
    .every((field) => Object.hasOwn(view.scope ?? {}, field));
  if (!isScoped) fail("index", "its key must begin with the fields of the scope");
  const startsAt = (start: number) =>
    Array.isArray(by) && by.every((field, i) => index?.fields[start + i] === field);
  // `by` may also name the fields of the scope first, as it does outside of the scope.
  const start = startsAt(0) ? 0 : scoped;
  const pinned = Math.max(scoped, start + (Array.isArray(by) ? by.length : 0));
  if (!startsAt(start) || pinned > (index?.fields.length ?? 0))
    fail("by", `it must be a list of the first fields of the index ${query.index}`);
  if (index?.each !== undefined)
    fail("index", `a row has several places in ${query.index}, because of each: true`);
  const ranks = await readableRanks(view, index, "rank");
  const found = await findOne(view, where, meter, { forWrite: true });
  if (found === undefined) return null;
  const [key] = indexKeys(model, ranks.index, found.row, found.primaryKey);
  if (key === undefined) return null;
  meter.index = ranks.index.name;
  const entry = key.slice(1);
  const prefix = entry.slice(0, pinned);
  const range =
    order === "asc"
      ? { prefix, start: prefix, end: entry }
      : { prefix, start: keyAfter(entry) as typeof entry };
  const onReads = (count: number) => meter.add(count);
  return Number(countOf((await walkEntries(ranks, range, { onReads })).amounts));
}
