import type { KeyOrder, KvKey, KvListSelector } from "@keywright/core";
import type { KeyId } from "./key-id.js";
import { idRangeOf } from "./list-range.js";

/** One side of a range: a key, or without one the first or last key of a prefix. */
interface Bound {
  readonly id: KeyId;
  readonly key: KvKey | undefined;
  readonly prefix: KvKey | undefined;
}

/** Returns selectors of the same keys, one for those that overlap or continue each other. */
export function mergedSelectors(
  selectors: readonly KvListSelector[],
  order: KeyOrder,
): KvListSelector[] {
  if (selectors.length < 2) return [...selectors];
  const sorted = selectors
    .map((selector) => ({ selector, ...boundsOf(selector, order) }))
    .sort((a, b) => (a.start.id < b.start.id ? -1 : a.start.id > b.start.id ? 1 : 0));
  const merged: typeof sorted = [];
  for (const next of sorted) {
    const last = merged.at(-1);
    if (last === undefined || next.start.id > last.end.id) merged.push(next);
    else if (next.end.id > last.end.id) {
      const selector = selectorBetween(last.start, next.end, order);
      if (selector === undefined) merged.push(next);
      else merged[merged.length - 1] = { selector, start: last.start, end: next.end };
    }
  }
  return merged.map(({ selector }) => selector);
}

function boundsOf(selector: KvListSelector, order: KeyOrder): { start: Bound; end: Bound } {
  const { start, end } = idRangeOf(selector, order);
  const { prefix, ...keys }: { prefix?: KvKey; start?: KvKey; end?: KvKey } = selector;
  return {
    start: { id: start, key: keys.start, prefix },
    end: { id: end, key: keys.end, prefix },
  };
}

/** Returns undefined if no selector has both bounds: one is of a prefix that lacks the other. */
function selectorBetween(start: Bound, end: Bound, order: KeyOrder): KvListSelector | undefined {
  if (start.key !== undefined && end.key !== undefined) return { start: start.key, end: end.key };
  const prefix = start.key === undefined ? start.prefix! : end.prefix!;
  const whole = idRangeOf({ prefix }, order);
  if (start.key === undefined && end.key === undefined)
    return whole.end === end.id ? { prefix } : undefined;
  if (start.id < whole.start || end.id > whole.end) return undefined;
  return start.key === undefined ? { prefix, end: end.key! } : { prefix, start: start.key };
}
