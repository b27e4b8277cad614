import { encodeKey, type KvKey, type KvKeyPart } from "@keywright/core";
import { IndexKeyError } from "../../errors/row-errors.js";
import type { CompiledModel } from "../compiled-model.js";
import { type IndexEntry, isIllFormed } from "./index-entries.js";
import { pointerOf, rowKey } from "./primary-key.js";

const surrogate = /[\ud800-\udfff]/;

/**
 * Returns whether a database can store this key. It cannot if the encoded key is longer than
 * `keyBytes` bytes, or if a string is not well-formed. A row that was written by hand can have such
 * a key in an index, and then has no entry there.
 */
export function canBeStored(key: KvKey, keyBytes: number): boolean {
  if (maxBytesOf(key) <= keyBytes) return true;
  try {
    return encodeKey(key).length <= keyBytes;
  } catch {
    return false;
  }
}

/** Returns an upper bound of the encoded size. Infinity if only the encoding can tell. */
function maxBytesOf(key: KvKey): number {
  let bytes = 0;
  for (const part of key) {
    if (typeof part === "string") {
      if (surrogate.test(part)) return Number.POSITIVE_INFINITY;
      bytes += 3 * part.length + 2;
    } else if (typeof part === "object") bytes += 2 * part.length + 2;
    else if (typeof part === "bigint") return Number.POSITIVE_INFINITY;
    // A number takes nine bytes, a boolean takes one.
    else bytes += 9;
  }
  return bytes;
}

/**
 * Refuses a row if the database cannot store its key or the key of one of its entries.
 *
 * @param keyBytes the maximum length of an encoded key.
 * @throws {IndexKeyError} if a key is too long, or has a string with a lone surrogate.
 */
export function assertStorable(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  entries: readonly IndexEntry[],
  keyBytes: number,
): void {
  const key = rowKey(model, primaryKey);
  if (!canBeStored(key, keyBytes)) throw keyError(model, "primaryKey", key, model.primaryKey);
  for (const { index, key } of entries) {
    if (canBeStored(key, keyBytes)) continue;
    const fields = [...index.fields, ...model.primaryKey];
    throw keyError(model, index.name, key, fields, primaryKey);
  }
}

function keyError(
  model: CompiledModel,
  index: string,
  [, ...parts]: KvKey,
  fields: readonly string[],
  primaryKey?: readonly KvKeyPart[],
): IndexKeyError {
  const illFormed = parts.findIndex(isIllFormed);
  const lengths = parts.map(lengthOf);
  const position = illFormed >= 0 ? illFormed : lengths.indexOf(Math.max(...lengths));
  return new IndexKeyError(model.name, index, fields[position]!, typeof parts[position], {
    id: primaryKey && pointerOf(primaryKey),
    problem: illFormed >= 0 ? "surrogate" : "length",
  });
}

/** Returns a length by which the longest part of a key can be found. */
function lengthOf(part: KvKeyPart): number {
  if (typeof part === "string" || typeof part === "object") return part.length;
  return typeof part === "bigint" ? part.toString(16).length / 2 : 8;
}
