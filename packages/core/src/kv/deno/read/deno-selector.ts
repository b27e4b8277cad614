import { Buffer } from "node:buffer";
import { compareBytes, startsWithBytes } from "../../../bytes/compare-bytes.js";
import { InvalidSelectorError } from "../../../errors/core-errors.js";
import type { KvKeyPart } from "../../../keys/key.js";
import { appendByte, type KeyRange, type KvListSelector } from "../../../keys/key-range.js";
import { denoError } from "../deno-error.js";
import { encodeKeyOf, takeKey } from "../deno-key.js";

/** A copy of a selector, made when `list` is called. Its bounds are not checked yet. */
export interface DenoSelector {
  readonly prefix?: readonly unknown[];
  readonly start?: readonly unknown[];
  readonly end?: readonly unknown[];
}

/** @throws {TypeError} if the selector has another shape. */
export function takeSelector(selector: KvListSelector): DenoSelector {
  const prefix = takeBound(selector, "prefix");
  const start = takeBound(selector, "start");
  const end = takeBound(selector, "end");
  if (prefix !== undefined) {
    if (start !== undefined && end !== undefined) {
      throw invalid("Selector can not specify both 'start' and 'end' key when specifying 'prefix'");
    }
    if (start !== undefined) return { prefix, start };
    return end === undefined ? { prefix } : { prefix, end };
  }
  if (start === undefined || end === undefined) {
    throw invalid("Selector must specify either 'prefix' or both 'start' and 'end' key");
  }
  return { start, end };
}

/** Copies a bound as Deno does. It must be an own property and may be any array-like value. */
function takeBound(selector: object, name: keyof DenoSelector): readonly unknown[] | undefined {
  if (selector === null || selector === undefined) throw noObject();
  if (!Object.hasOwn(selector, name)) return undefined;
  const bound: unknown = (selector as DenoSelector)[name];
  if (bound === undefined) return undefined;
  if (bound === null) throw noObject();
  return Array.prototype.slice.call(bound);
}

/** The range of encoded keys of a selector, and the leading bytes that its cursors omit. */
export interface DenoRange extends KeyRange {
  readonly commonPrefix: Uint8Array;
  /** The bounds in the selector itself. A cursor must not lie outside them. */
  readonly givenStart: Uint8Array | undefined;
  readonly givenEnd: Uint8Array | undefined;
}

/** The keys of a selector, copied, with all key parts of the right types. */
export type DenoBounds = { readonly [Name in keyof DenoSelector]?: KvKeyPart[] };

export function takeBounds({ prefix, start, end }: DenoSelector): DenoBounds {
  return {
    ...(prefix && { prefix: takeKey(prefix) }),
    ...(start && { start: takeKey(start) }),
    ...(end && { end: takeKey(end) }),
  };
}

/** @throws {TypeError} if a bound is not under the prefix, or if the start is after the end. */
export function denoRange(bounds: DenoBounds): DenoRange {
  const prefix = bounds.prefix && encodeKeyOf(bounds.prefix);
  const start = bounds.start && encodeKeyOf(bounds.start);
  const end = bounds.end && encodeKeyOf(bounds.end);
  if (prefix !== undefined) {
    const extendsPrefix = (key: Uint8Array) =>
      key.length > prefix.length && startsWithBytes(key, prefix);
    if (start !== undefined && !extendsPrefix(start)) {
      throw invalid("Start key is not in the keyspace defined by prefix");
    }
    if (end !== undefined && !extendsPrefix(end)) {
      throw invalid("End key is not in the keyspace defined by prefix");
    }
    return {
      start: start ?? appendByte(prefix, 0x00),
      end: end ?? appendByte(prefix, 0xff),
      commonPrefix: prefix,
      givenStart: start,
      givenEnd: end,
    };
  }
  if (start === undefined || end === undefined) throw invalid("Invalid range");
  if (compareBytes(start, end) > 0) throw invalid("Start key is greater than end key");
  return { start, end, commonPrefix: sharedBytes(start, end), givenStart: start, givenEnd: end };
}

export function rangeAfter(range: DenoRange, key: Uint8Array, reverse: boolean): KeyRange {
  return reverse
    ? { start: range.start, end: key }
    : { start: appendByte(key, 0x00), end: range.end };
}

/**
 * Returns the rest of a range after a cursor. The bytes of a cursor need not be a key.
 *
 * @throws {TypeError} if the cursor is not base64, or if it lies outside the bounds.
 */
export function rangeAfterCursor(range: DenoRange, cursor: string, reverse: boolean): KeyRange {
  const tail = Buffer.from(cursor, "base64url");
  if (encodeBase64(tail) !== cursor) throw invalid("invalid cursor");
  const key = Buffer.concat([range.commonPrefix, tail]);
  const rest = rangeAfter(range, key, reverse);
  const { givenStart, givenEnd } = range;
  const isOutside =
    (givenStart !== undefined && compareBytes(rest.start, givenStart) < 0) ||
    (givenEnd !== undefined && compareBytes(rest.end, givenEnd) > 0);
  if (isOutside) throw invalid("cursor out of bounds");
  return rest;
}

/** Returns the cursor at a key: the bytes of the key after the common prefix of the range. */
export function cursorAt(range: DenoRange, key: Uint8Array): string {
  return encodeBase64(key.subarray(range.commonPrefix.length));
}

/** Encodes bytes as URL-safe base64 with padding, like Deno's cursors. */
function encodeBase64(bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes).toString("base64url");
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}

function sharedBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return a.subarray(0, shared);
}

function invalid(text: string): Error {
  return denoError(new InvalidSelectorError(text), text);
}

function noObject(): Error {
  return invalid("Cannot convert undefined or null to object");
}
