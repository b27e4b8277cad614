import type { KvKeyPart } from "@keywright/core";
import { ascendingPart, descendingPart, partAfter } from "../../../model/keys/key-parts.js";
import type { Bounds } from "../fields/field-condition.js";
import type { KeyField } from "../fields/key-fields.js";

/** The range of key parts within bounds, as the parts are stored in keys. */
export interface KeyInterval {
  /** Inclusive. */
  readonly start?: KvKeyPart;
  /** Exclusive. */
  readonly end?: KvKeyPart;
  /** The type of the matching parts, if parts of other types may lie between start and end. */
  readonly type?: PartType;
  readonly isEmpty?: true;
}

type PartType = "bytes" | "string" | "number" | "bigint" | "boolean";

interface Bound {
  readonly part: KvKeyPart;
  readonly isInclusive: boolean;
}

/** Returns the interval of a key part for bounds. Only parts of the bounds' type belong to it. */
export function intervalOf(
  field: KeyField,
  bounds: Bounds,
  fail: (reason: string) => never,
): KeyInterval {
  const boundOf = (value: unknown, isInclusive: boolean): Bound | undefined => {
    const part = value === undefined ? undefined : toAscending(field, field.partOf(value));
    // `normalize` may return NaN for a valid bound.
    if (Number.isNaN(part))
      fail("normalize returned NaN for a bound, and no number is below or above NaN");
    return part === undefined ? undefined : { part, isInclusive };
  };
  const prefix = boundOf(bounds.startsWith, true);
  if (prefix !== undefined) {
    if (typeof prefix.part !== "string") return fail("startsWith must be a string");
    const afterPrefix = firstStringAfter(prefix.part);
    const end = afterPrefix === undefined ? undefined : { part: afterPrefix, isInclusive: false };
    return storedInterval(field, "string", prefix, end);
  }
  const low = boundOf(bounds.gt, false) ?? boundOf(bounds.gte, true);
  const high = boundOf(bounds.lt, false) ?? boundOf(bounds.lte, true);
  const firstBound = low ?? high;
  if (firstBound === undefined) return {};
  const type = typeOfPart(firstBound.part);
  if (low && high && typeOfPart(high.part) !== typeOfPart(low.part)) {
    fail("its two bounds must have the same type");
  }
  return storedInterval(field, type, low, high);
}

export function isOfType(field: KeyField, interval: KeyInterval, part: KvKeyPart): boolean {
  if (interval.type === undefined) return true;
  const plainPart = toAscending(field, part);
  return plainPart !== undefined && typeOfPart(plainPart) === interval.type;
}

/** Returns the type of the parts in an interval. Undefined if they can be of any type. */
export function typeOfInterval(
  field: KeyField,
  { type, start, end }: KeyInterval,
): PartType | undefined {
  const bound = start ?? end;
  if (type !== undefined || bound === undefined) return type;
  const part = toAscending(field, bound);
  return part === undefined ? undefined : typeOfPart(part);
}

/** Returns the interval between two bounds. The ends of the type replace missing bounds. */
function storedInterval(
  field: KeyField,
  type: PartType,
  low: Bound | undefined,
  high: Bound | undefined,
): KeyInterval {
  const [first, last] = field.descending
    ? [toDescending(field, high ?? typeEnds[type]), toDescending(field, low ?? typeStarts[type])]
    : [low ?? typeStarts[type], high ?? typeEnds[type]];
  let start = first?.part;
  if (first !== undefined && !first.isInclusive) {
    start = partAfter(first.part);
    if (start === undefined) return { isEmpty: true };
  }
  let end = last?.part;
  // The last part of a type has no next part. The interval then ends where the type ends.
  if (last?.isInclusive) end = partAfter(last.part) ?? typeEnds[type]?.part;
  // The ends of numbers are numbers, so no parts of other types lie between them.
  const isOpen =
    type !== "number" && (low === undefined || high === undefined || end === typeEnds[type]?.part);
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(isOpen && { type }),
  };
}

function toDescending({ descendingOrder }: KeyField, bound: Bound | undefined): Bound | undefined {
  return bound && { ...bound, part: descendingPart(bound.part, descendingOrder) };
}

function toAscending(field: KeyField, part: KvKeyPart): KvKeyPart | undefined {
  return field.descending ? ascendingPart(part, field.descendingOrder) : part;
}

/** The first part of each type. Undefined if the type has no first part. */
const typeStarts: Readonly<Record<PartType, Bound | undefined>> = {
  bytes: { part: new Uint8Array(), isInclusive: true },
  string: { part: "", isInclusive: true },
  number: { part: Number.NEGATIVE_INFINITY, isInclusive: true },
  bigint: undefined,
  boolean: { part: false, isInclusive: true },
};

/**
 * The end of each type: a part after all parts of the type, and before as many other parts as
 * possible. It is valid in both key orders, with numbers before bigints or bigints before numbers.
 * NaN sorts after all other numbers. No number is below or above it, so no range contains it.
 */
const typeEnds: Readonly<Record<PartType, Bound | undefined>> = {
  bytes: { part: "", isInclusive: false },
  string: { part: Number.NEGATIVE_INFINITY, isInclusive: false },
  number: { part: Number.NaN, isInclusive: false },
  bigint: { part: false, isInclusive: false },
  boolean: undefined,
};

function typeOfPart(part: KvKeyPart): PartType {
  const type = typeof part;
  return type === "object" ? "bytes" : (type as PartType);
}

const lastCodePoint = 0x10ffff;

/** Returns the first string, by code points, after all strings with a prefix, if there is one. */
function firstStringAfter(prefix: string): string | undefined {
  let end = prefix.length;
  // The last code point is a surrogate pair: it takes two UTF-16 code units.
  while (end >= 2 && prefix.codePointAt(end - 2) === lastCodePoint) end -= 2;
  if (end === 0) return undefined;
  const before = prefix.codePointAt(end - 2) ?? 0;
  const start = end >= 2 && before > 0xffff ? end - 2 : end - 1;
  const point = prefix.codePointAt(start) ?? 0;
  // Well-formed strings have no lone surrogates, so D800 to DFFF are skipped.
  const next = point === 0xd7ff ? 0xe000 : point + 1;
  return prefix.slice(0, start) + String.fromCodePoint(next);
}
