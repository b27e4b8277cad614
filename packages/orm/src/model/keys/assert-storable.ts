import type { KvKey, KvKeyPart } from "@keywright/core";
import { IndexKeyError } from "../../errors/row-errors.js";
import type { CompiledModel } from "../compiled-model.js";
import { canBeStored } from "./can-be-stored.js";
import { type IndexEntry, isIllFormed } from "./index-entries.js";
import { pointerOf, rowKey } from "./primary-key.js";

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
