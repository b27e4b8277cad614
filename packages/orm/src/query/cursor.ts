import { Buffer } from "node:buffer";
import {
  compareKeys,
  decodeKey,
  encodeKey,
  isKeywrightError,
  type KvKey,
  type KvListSelector,
} from "@keywright/core";
import { InvalidCursorError } from "../errors/query-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { type IndexRead, keyLength, selectorOf } from "./index-read.js";

const cursorFormat = 1;

/** A text from which the same query goes on behind a key: the format, the direction and the key, in URL-safe base64. */
export function encodeCursor(read: IndexRead, key: KvKey): string {
  return Buffer.from(encodeKey([cursorFormat, read.reverse, ...key])).toString("base64url");
}

/**
 * The key at which a cursor stands.
 *
 * @throws {InvalidCursorError} where it is not a cursor, or its key is not one that this query returns.
 */
export function decodeCursor(model: CompiledModel, read: IndexRead, cursor: string): KvKey {
  const [format, reverse, ...key] = decode(model, cursor);
  const selector = selectorOf(model, read, undefined);
  const isOfThisQuery =
    format === cursorFormat &&
    reverse === read.reverse &&
    key.length === keyLength(model, read.index) &&
    selector !== undefined &&
    isWithin(key, selector);
  if (!isOfThisQuery) throw new InvalidCursorError(model.name, cursor);
  return key;
}

function decode(model: CompiledModel, cursor: string): KvKey {
  try {
    const bytes = Buffer.from(cursor, "base64url");
    if (bytes.toString("base64url") === cursor) return decodeKey(bytes);
  } catch (error) {
    if (!isKeywrightError(error)) throw error;
  }
  throw new InvalidCursorError(model.name, cursor);
}

function isWithin(key: KvKey, selector: KvListSelector): boolean {
  const { prefix, start, end } = selector as {
    prefix?: KvKey;
    start?: KvKey;
    end?: KvKey;
  };
  const isUnderPrefix =
    prefix === undefined || compareKeys(prefix, key.slice(0, prefix.length)) === 0;
  const isFromStart = start === undefined || compareKeys(key, start) >= 0;
  return isUnderPrefix && isFromStart && (end === undefined || compareKeys(key, end) < 0);
}
