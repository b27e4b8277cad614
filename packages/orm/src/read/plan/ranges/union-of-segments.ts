import { encodeKey, type KeyOrder } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { InvalidQueryError } from "../../../errors/query-errors.js";
import type { CompiledModel } from "../../../model/compiled-model.js";
import type { KeyField } from "../fields/key-fields.js";
import { isOfType, type KeyInterval, typeOfInterval } from "./key-interval.js";
import type { Segment } from "./query-plan.js";
import { maxSegments } from "./segments.js";

/** A segment with the bytes of its first possible key and of the end of its keys. */
interface Placed {
  readonly segment: Segment;
  readonly low: Buffer;
  readonly high: Buffer;
}

/** After the encodings of all key parts, whose first bytes are tags. */
const afterAllParts = Buffer.of(0xff);

/**
 * Returns segments that contain each key of the given ones exactly once, in key order. Undefined if
 * two of them overlap in their bytes although they contain values of different types.
 */
export function unionOfSegments(
  model: CompiledModel,
  fields: readonly KeyField[],
  segments: readonly Segment[],
): Segment[] | undefined {
  const placed = segments
    .filter(({ interval }) => !interval.isEmpty)
    .map((segment) => placeOf(segment, model.keyOrder))
    .filter(({ low, high }) => Buffer.compare(low, high) < 0)
    .sort((a, b) => Buffer.compare(a.low, b.low) || Buffer.compare(b.high, a.high));
  const union: Placed[] = [];
  for (const next of placed) {
    const last = union.at(-1);
    if (last === undefined || Buffer.compare(last.high, next.low) <= 0) {
      union.push(next);
      continue;
    }
    if (!isSameType(fields, last.segment, next.segment)) return undefined;
    if (Buffer.compare(last.high, next.high) >= 0) continue;
    const { equals, interval } = last.segment;
    const joined = { equals, interval: joinedInterval(interval, next.segment.interval) };
    union[union.length - 1] = { segment: joined, low: last.low, high: next.high };
  }
  if (union.length > maxSegments) {
    const reason = `its members have more than ${maxSegments} ranges; pass fewer`;
    throw new InvalidQueryError(model.name, "OR", reason);
  }
  return union.map(({ segment }) => segment);
}

function placeOf(segment: Segment, order: KeyOrder): Placed {
  const { equals, interval } = segment;
  const bytesOf = (part: KeyInterval["start"]) =>
    Buffer.from(part === undefined ? encodeParts(equals) : encodeParts([...equals, part]));
  const encodeParts = (parts: Segment["equals"]) =>
    parts.length === 0 ? new Uint8Array() : encodeKey(parts, order);
  const { start, end } = interval;
  const high =
    end === undefined ? Buffer.concat([bytesOf(undefined), afterAllParts]) : bytesOf(end);
  return { segment, low: bytesOf(start), high };
}

/**
 * True if the later of two overlapping segments has no values of another type than the earlier one.
 * The keys of the later one begin with the values of the earlier one.
 */
function isSameType(fields: readonly KeyField[], outer: Segment, inner: Segment): boolean {
  const { equals, interval } = outer;
  const field = fields[equals.length];
  if (field === undefined) return true;
  const type = typeOfInterval(field, interval);
  if (type === undefined) return true;
  if (inner.equals.length > equals.length) {
    return isOfType(field, { type }, inner.equals[equals.length]!);
  }
  return typeOfInterval(field, inner.interval) === type;
}

function joinedInterval(a: KeyInterval, b: KeyInterval): KeyInterval {
  const type = a.type ?? b.type;
  return {
    ...(a.start !== undefined && { start: a.start }),
    ...(b.end !== undefined && { end: b.end }),
    ...(type !== undefined && { type }),
  };
}
