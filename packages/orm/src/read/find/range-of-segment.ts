import type { EntryRange } from "../../derived/ranks/read-intervals.js";
import { type QueryPlan, type Segment, selectorOf } from "../plan/ranges/query-plan.js";

/** Returns the entries of a segment as a range. Undefined if there are none. */
export function rangeOfSegment(plan: QueryPlan, segment: Segment): EntryRange | undefined {
  const selector = selectorOf(plan, segment, undefined);
  if (selector === undefined) return undefined;
  const tailOf = (key: readonly unknown[] | undefined) =>
    key === undefined ? undefined : (key.slice(1) as EntryRange["prefix"]);
  const { prefix, start, end } = selector as {
    readonly prefix?: readonly unknown[];
    readonly start?: readonly unknown[];
    readonly end?: readonly unknown[];
  };
  const range = { prefix: tailOf(prefix) ?? [], start: tailOf(start), end: tailOf(end) };
  // With a prefix and a start, the first key is the start. With an end, the prefix begins the
  // range.
  return range.start === undefined ? { ...range, start: range.prefix } : range;
}
