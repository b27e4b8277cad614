import {
  compareKeys,
  type KvKey,
  type KvKeyPart,
  type KvListedEntry,
  type KvListSelector,
} from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { isSamePart, keyAfter } from "../../../model/keys/key-parts.js";
import type { AnyQuery } from "../../../state/context/any-query.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { keyFields } from "../fields/key-fields.js";
import { isOfType, type KeyInterval } from "./key-interval.js";

/** A range of an index: fixed values for the first key parts, then an interval of the next part. */
export interface Segment {
  readonly equals: readonly KvKeyPart[];
  readonly interval: KeyInterval;
}

/** Marks a plan of a query with conditions on related rows. */
export interface RelatedPlan {
  /** A text that differs for different conditions. */
  readonly id: string;
  /**
   * True if a condition finds the rows in the order of the primary key. The plan then says only
   * what this order is. Otherwise the conditions are tested for each row of the plan.
   */
  readonly isFinding: boolean;
}

/** The way to read a query: segments of one index, or of the rows themselves, in key order. */
export interface QueryPlan {
  readonly model: CompiledModel;
  /** Undefined if the rows themselves are read, in the order of the primary key. */
  readonly index: CompiledIndex | undefined;
  /** Segments without common keys, in key order. */
  readonly segments: readonly Segment[];
  /** True to read from the last key to the first. */
  readonly reverse: boolean;
  readonly related?: RelatedPlan;
}

/** The way to read a query whose rows lie in several indexes, which all have them in one order. */
export interface MergedPlan {
  readonly model: CompiledModel;
  /** Plans with one segment each. They have the same rows in the same order. */
  readonly merged: readonly QueryPlan[];
  readonly reverse: boolean;
  readonly related?: RelatedPlan;
}

export type Plan = QueryPlan | MergedPlan;

/** Returns the plans whose rows make up the result of a plan. */
export function plansIn(plan: Plan): readonly QueryPlan[] {
  return "merged" in plan ? plan.merged : [plan];
}

export function nameOfIndex(plan: Plan): string {
  if (!("merged" in plan)) return plan.index?.name ?? "primaryKey";
  const names = plan.merged.map(({ index }) => index?.name ?? "primaryKey");
  return [...new Set(names)].join(", ");
}

/** Returns the number of parts in the keys of an index, or of the rows, with the prefix. */
export function keyLengthOf({ model, index }: Pick<QueryPlan, "model" | "index">): number {
  const primaryKey = model.primaryKey.length;
  if (index === undefined) return 1 + primaryKey;
  return 1 + index.parts.length + (index.unique ? 0 : primaryKey);
}

export function prefixOf({ model, index }: QueryPlan, segment: Segment): KvKeyPart[] {
  return [index?.place ?? model.place, ...segment.equals];
}

export function readsWholeKeys(plan: QueryPlan): boolean {
  const length = keyLengthOf(plan);
  for (const { equals } of plan.segments) if (1 + equals.length !== length) return false;
  return true;
}

export function mayRepeat({ index, segments }: QueryPlan): boolean {
  const each = index?.each;
  if (each === undefined) return false;
  const element = segments[0]?.equals[each];
  return !segments.every(({ equals }) => equals.length > each && isSamePart(equals[each], element));
}

/** Returns the selector of a segment, or of its keys after one. Undefined if there are none. */
export function selectorOf(
  plan: QueryPlan,
  segment: Segment,
  after: KvKey | undefined,
): KvListSelector | undefined {
  const { interval } = segment;
  if (interval.isEmpty) return undefined;
  const prefix = prefixOf(plan, segment);
  const isWholeKey = prefix.length === keyLengthOf(plan);
  let start: KvKey | undefined = isWholeKey ? prefix : undefined;
  let end: KvKey | undefined = isWholeKey ? keyAfter(prefix) : undefined;
  if (interval.start !== undefined) start = [...prefix, interval.start];
  if (interval.end !== undefined) end = [...prefix, interval.end];
  if (after !== undefined && plan.reverse) end = [...after];
  if (after !== undefined && !plan.reverse) start = keyAfter(after);
  if (start !== undefined && end !== undefined) {
    // A selector with crossed bounds would be invalid. There are no keys between them.
    return compareKeys(start, end, plan.model.keyOrder) < 0 ? { start, end } : undefined;
  }
  if (start !== undefined) return { prefix, start };
  return end === undefined ? { prefix } : { prefix, end };
}

/** True if an entry in a segment's range has a key of the right length and with the right types. */
export function belongsToSegment(
  plan: QueryPlan,
  segment: Segment,
  entry: Pick<KvListedEntry, "keyLength" | "partAt">,
): boolean {
  if (entry.keyLength !== keyLengthOf(plan)) return false;
  if (segment.interval.type === undefined) return true;
  return hasTypeOfSegment(plan, segment, entry.partAt(1 + segment.equals.length));
}

/** True if the first part of a key that is not fixed has the type of a segment's interval. */
function hasTypeOfSegment(
  plan: QueryPlan,
  { equals, interval }: Segment,
  part: KvKeyPart | undefined,
): boolean {
  const field = keyFields(plan.model, plan.index)[equals.length];
  return field === undefined || part === undefined || isOfType(field, interval, part);
}

export function findSegment(plan: QueryPlan, key: KvKey): number {
  if (key[0] !== (plan.index?.place ?? plan.model.place)) return -1;
  if (key.length !== keyLengthOf(plan)) return -1;
  return plan.segments.findIndex((segment) => {
    const { equals, interval } = segment;
    if (!hasTypeOfSegment(plan, segment, key[1 + equals.length])) return false;
    if (!equals.every((part, i) => isSamePart(part, key[1 + i]))) return false;
    if (interval.isEmpty) return false;
    const part = key[1 + equals.length];
    if (part === undefined) return true;
    const compare = (bound: KvKeyPart) => compareKeys([part], [bound], plan.model.keyOrder);
    const isFromStart = interval.start === undefined || compare(interval.start) >= 0;
    return isFromStart && (interval.end === undefined || compare(interval.end) < 0);
  });
}

export function holdsSelection(index: CompiledIndex, select: AnyQuery["select"]): boolean {
  if (index.store === "copy") return true;
  if (index.store === "pointer" || select === undefined) return false;
  return Object.keys(select).every(
    (field) => !select[field] || index.include.includes(field) || index.inKey.has(field),
  );
}

export function isEntryEnough(index: CompiledIndex, query: AnyQuery): boolean {
  if (query.withVersionstamp || query.forWrite || query.related) return false;
  if (index.store === "copy") return true;
  return (
    query.filter === undefined && query.include === undefined && holdsSelection(index, query.select)
  );
}

/**
 * True if the entries of an index, or of the primary key, include those of rows that are marked as
 * deleted. An index does so until `migrate` has built it for `softDelete`.
 */
export function readsMarkedRows(
  { model }: Pick<ReadView, "model">,
  index: CompiledIndex | undefined,
): boolean {
  return index?.unmarked !== model.softDelete;
}

export function isCovered(view: ReadView, plan: QueryPlan, query: AnyQuery): boolean {
  if (plan.index === undefined) return true;
  // Only the row shows whether it is deleted.
  if (readsMarkedRows(view, plan.index)) return false;
  // Entries hold rows as they are stored, but a query returns upgraded rows.
  if (view.snapshot.upgradesRows) return false;
  if (!isEntryEnough(plan.index, query)) return false;
  // Detecting duplicates needs the whole row.
  return plan.index.store === "copy" || !mayRepeat(plan);
}
