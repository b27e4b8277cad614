import { compareKeys, type KvKey, type KvKeyPart, type KvListSelector } from "@keywright/core";
import { isSamePart } from "../../indexes/key-parts.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { keyFields } from "./key-fields.js";
import { isOfType, type KeyInterval } from "./key-interval.js";

/** A stretch of an index: the values that the first parts of its keys have, then an interval of the next part. */
export interface Segment {
  readonly equals: readonly KvKeyPart[];
  readonly interval: KeyInterval;
}

/** How a query is read: stretches of one index, or of the rows themselves, in the order of their keys. */
export interface QueryPlan {
  readonly model: CompiledModel;
  /** Undefined for the rows themselves, in the order of the primary key. */
  readonly index: CompiledIndex | undefined;
  /** They have no key in common, and stand in the order of the keys. */
  readonly segments: readonly Segment[];
  /** From the last key to the first. */
  readonly reverse: boolean;
}

/** The name of what a plan reads. */
export function nameOfIndex(plan: QueryPlan): string {
  return plan.index?.name ?? "primaryKey";
}

/** How many parts the keys of an index have; those of the rows where it is undefined. */
export function keyLength(model: CompiledModel, index: CompiledIndex | undefined): number {
  const primaryKey = model.primaryKey.length;
  if (index === undefined) return 1 + primaryKey;
  return 1 + index.parts.length + (index.unique ? 0 : primaryKey);
}

/** What all keys of a segment begin with. */
export function prefixOf({ model, index }: QueryPlan, segment: Segment): KvKeyPart[] {
  return [index?.prefix ?? model.prefix, ...segment.equals];
}

/** Whether each segment of a plan is one whole key. */
export function isPoints(plan: QueryPlan): boolean {
  const length = keyLength(plan.model, plan.index);
  return plan.segments.every(({ equals }) => 1 + equals.length === length);
}

/** Whether a row may have several keys among those that a plan reads. */
export function mayRepeat({ index, segments }: QueryPlan): boolean {
  const each = index?.each;
  if (each === undefined) return false;
  const element = segments[0]?.equals[each];
  return !segments.every(({ equals }) => equals.length > each && isSamePart(equals[each], element));
}

const lowestPart: KvKeyPart = new Uint8Array();

/** The keys of a segment to list, in a plan's direction behind the key `after`; undefined where there can be none. */
export function selectorOf(
  plan: QueryPlan,
  segment: Segment,
  after: KvKey | undefined,
): KvListSelector | undefined {
  const { interval } = segment;
  if (interval.isEmpty) return undefined;
  const prefix = prefixOf(plan, segment);
  let start = interval.start === undefined ? undefined : [...prefix, interval.start];
  let end = interval.end === undefined ? undefined : [...prefix, interval.end];
  if (after !== undefined && plan.reverse) end = [...after];
  if (after !== undefined && !plan.reverse) start = [...after, lowestPart];
  if (start !== undefined && end !== undefined) {
    // Bounds that cross have nothing between them.
    return compareKeys(start, end) < 0 ? { start, end } : undefined;
  }
  if (start !== undefined) return { prefix, start };
  return end === undefined ? { prefix } : { prefix, end };
}

/** Whether a key of a segment's range is of the length of the plan's keys, and of the type of the segment's bounds. */
export function isMeant(plan: QueryPlan, { equals, interval }: Segment, key: KvKey): boolean {
  if (key.length !== keyLength(plan.model, plan.index)) return false;
  const field = keyFields(plan.model, plan.index)[equals.length];
  return interval.type === undefined || field === undefined
    ? true
    : isOfType(field, interval, key[1 + equals.length]!);
}

/** The place of the segment that has a key; -1 where none has. */
export function segmentOf(plan: QueryPlan, key: KvKey): number {
  if (key[0] !== (plan.index?.prefix ?? plan.model.prefix)) return -1;
  return plan.segments.findIndex((segment) => {
    const { equals, interval } = segment;
    if (!isMeant(plan, segment, key)) return false;
    if (!equals.every((part, i) => isSamePart(part, key[1 + i]))) return false;
    if (interval.isEmpty) return false;
    const part = key[1 + equals.length];
    if (part === undefined) return true;
    const isFromStart = interval.start === undefined || compareKeys([part], [interval.start]) >= 0;
    return isFromStart && (interval.end === undefined || compareKeys([part], [interval.end]) < 0);
  });
}
