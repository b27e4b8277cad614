import type { KvKey } from "@keywright/core";
import { SystemEntryError } from "../../errors/schema-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { TextBytesError } from "./format/byte-reader.js";

interface StoredEntry {
  readonly key: KvKey;
  readonly value: unknown;
}

/**
 * Returns the bytes that an entry of a text index holds.
 *
 * @throws {SystemEntryError} if there are none.
 */
export function bytesIn({ name }: CompiledModel, { key, value }: StoredEntry): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw damagedBytes({ name }, key);
}

/** The error for an entry whose bytes are not those that were written. */
export function damagedBytes({ name }: Pick<CompiledModel, "name">, key: KvKey): SystemEntryError {
  const remedy = "verify the index with repair, or give it another name so that it is built again";
  return new SystemEntryError(name, key, "", remedy);
}

/** Names the index of damaged bytes in the error that a reader of bytes has thrown. */
export function damageOf(error: unknown, model: CompiledModel, key: KvKey): unknown {
  const isDamage = error instanceof TextBytesError || error instanceof RangeError;
  return isDamage ? damagedBytes(model, key) : error;
}
