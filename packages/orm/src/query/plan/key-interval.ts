import type { KvKeyPart } from "@keywright/core";
import { ascendingPart, descendingPart, partAfter } from "../../indexes/key-parts.js";
import type { Bounds } from "./condition.js";
import type { KeyField } from "./key-fields.js";

/** Which key parts are within bounds, as they stand in the keys. */
export interface KeyInterval {
  /** Inclusive. */
  readonly start?: KvKeyPart;
  /** Exclusive. */
  readonly end?: KvKeyPart;
  /** Where parts of other types may lie between start and end: the type of those that are meant. */
  readonly type?: PartType;
  /** Nothing is within the bounds. */
  readonly isEmpty?: true;
}

type PartType = "bytes" | "string" | "number" | "bigint" | "boolean";

/** A bound of values, as the key would hold them were it ascending. */
interface Bound {
  readonly part: KvKeyPart;
  readonly isInclusive: boolean;
}

/**
 * The interval of a key's part that bounds mean. It has values of the bounds' type alone.
 *
 * @param fail throws what is wrong with the bounds.
 */
export function intervalOf(
  field: KeyField,
  bounds: Bounds,
  fail: (reason: string) => never,
): KeyInterval {
  const boundOf = (value: unknown, isInclusive: boolean): Bound | undefined => {
    const part = value === undefined ? undefined : ascending(field, field.partOf(value));
    // What `normalize` makes of a bound may be what no bound is.
    if (Number.isNaN(part)) fail("a bound comes to NaN, which no number is below or above");
    return part === undefined ? undefined : { part, isInclusive };
  };
  const prefix = boundOf(bounds.startsWith, true);
  if (prefix !== undefined) {
    if (typeof prefix.part !== "string") return fail("startsWith is not a string");
    const behind = firstStringBehind(prefix.part);
    const end = behind === undefined ? undefined : { part: behind, isInclusive: false };
    return asStored(field, "string", prefix, end);
  }
  const low = boundOf(bounds.gt, false) ?? boundOf(bounds.gte, true);
  const high = boundOf(bounds.lt, false) ?? boundOf(bounds.lte, true);
  const any = low ?? high;
  if (any === undefined) return {};
  const type = typeOfPart(any.part);
  if (low && high && typeOfPart(high.part) !== typeOfPart(low.part)) {
    fail("its bounds are of two types");
  }
  return asStored(field, type, low, high);
}

/** Whether a key's part is of the type that an interval means. */
export function isOfType(field: KeyField, interval: KeyInterval, part: KvKeyPart): boolean {
  if (interval.type === undefined) return true;
  const own = ascending(field, part);
  return own !== undefined && typeOfPart(own) === interval.type;
}

/** An interval of values as their parts stand in the key; what is open ends with the type, as near as a key can say. */
function asStored(
  field: KeyField,
  type: PartType,
  low: Bound | undefined,
  high: Bound | undefined,
): KeyInterval {
  const [first, last] = field.descending
    ? [descendingBound(high ?? typeEnds[type]), descendingBound(low ?? typeStarts[type])]
    : [low ?? typeStarts[type], high ?? typeEnds[type]];
  let start = first?.part;
  if (first !== undefined && !first.isInclusive) {
    start = partAfter(first.part);
    if (start === undefined) return { isEmpty: true };
  }
  let end = last?.part;
  // Behind the last of a type comes the end of the type.
  if (last?.isInclusive) end = partAfter(last.part) ?? typeEnds[type]?.part;
  const isOpen = low === undefined || high === undefined || end === typeEnds[type]?.part;
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(isOpen && { type }),
  };
}

function descendingBound(bound: Bound | undefined): Bound | undefined {
  return bound && { ...bound, part: descendingPart(bound.part) };
}

function ascending(field: KeyField, part: KvKeyPart): KvKeyPart | undefined {
  return field.descending ? ascendingPart(part) : part;
}

/** The first part of each type, where there is one. */
const typeStarts: Readonly<Record<PartType, Bound | undefined>> = {
  bytes: { part: new Uint8Array(), isInclusive: true },
  string: { part: "", isInclusive: true },
  number: { part: Number.NEGATIVE_INFINITY, isInclusive: true },
  bigint: undefined,
  boolean: { part: false, isInclusive: true },
};

/** A part behind all of a type, in either order of numbers and bigints, and before as much else as can be. */
const typeEnds: Readonly<Record<PartType, Bound | undefined>> = {
  bytes: { part: "", isInclusive: false },
  string: { part: Number.NEGATIVE_INFINITY, isInclusive: false },
  number: { part: false, isInclusive: false },
  bigint: { part: false, isInclusive: false },
  boolean: undefined,
};

function typeOfPart(part: KvKeyPart): PartType {
  const type = typeof part;
  return type === "object" ? "bytes" : (type as PartType);
}

const lastPoint = 0x10ffff;

/** The first string behind all those that begin with a prefix, by code points; undefined where there is none. */
function firstStringBehind(prefix: string): string | undefined {
  let end = prefix.length;
  // The last point is a pair of surrogates.
  while (end >= 2 && prefix.codePointAt(end - 2) === lastPoint) end -= 2;
  if (end === 0) return undefined;
  const before = prefix.codePointAt(end - 2) ?? 0;
  const start = end >= 2 && before > 0xffff ? end - 2 : end - 1;
  const point = prefix.codePointAt(start) ?? 0;
  // No string has a surrogate as a code point of its own.
  const next = point === 0xd7ff ? 0xe000 : point + 1;
  return prefix.slice(0, start) + String.fromCodePoint(next);
}
