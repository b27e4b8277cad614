import { textOfBytes } from "../../../bytes/text-of-bytes.js";
import { combineU64 } from "../../../engine/commit/combine-u64.js";
import type { StoredEntry, StoredMutation } from "../../../engine/engine.js";
import { NotU64Error } from "../../../errors/core-errors.js";
import { encodeValue } from "../../../values/encode-value.js";
import { KvU64 } from "../../../values/kv-u64.js";
import { decodeStoredValue } from "../../read/stored-entry.js";
import { denoError } from "../deno-error.js";

/**
 * A `sum` whose operand is a number or a bigint. Deno adds two numbers, two bigints, and a bigint
 * to a `KvU64`, although its documentation does not mention this.
 */
export interface NumberSum {
  readonly type: "sumNumber";
  readonly key: Uint8Array;
  readonly operand: number | bigint;
}

/** The entries under some keys, by the text of the encoded key. */
export type EntriesByKey = ReadonlyMap<string, StoredEntry | undefined>;

/**
 * Replaces each {@link NumberSum} by a `set` of its result.
 *
 * @param entries the entries under the keys of the sums before the operation.
 * @throws {TypeError} if Deno does not add the operand to the value. The text is that of Deno.
 * @throws {NotU64Error} if a `sum`, `min` or `max` of a `KvU64` finds the result of such a sum.
 */
export function applyNumberSums(
  mutations: readonly (StoredMutation | NumberSum)[],
  entries: EntriesByKey,
): StoredMutation[] {
  const states = new Map(entries);
  return mutations.map((mutation) => {
    const applied = mutation.type === "sumNumber" ? resultOf(mutation, states) : mutation;
    const text = textOfBytes(applied.key);
    const isOtherKey = applied.type === "set" && applied.endsInVersionstamp;
    if (states.has(text) && !isOtherKey) states.set(text, entryAfter(applied, states.get(text)));
    return applied;
  });
}

function resultOf(sum: NumberSum, states: EntriesByKey): StoredMutation {
  const { key } = sum;
  return { type: "set", key, value: encodeValue(summed(sum, states.get(textOfBytes(key)))) };
}

function summed({ key, operand }: NumberSum, entry: StoredEntry | undefined): unknown {
  if (entry === undefined) return operand;
  const value = decodeStoredValue(entry);
  if (typeof value === "number" && typeof operand === "number") return value + operand;
  if (typeof value === "bigint" && typeof operand === "bigint") return value + operand;
  const isU64 = typeof operand === "bigint" && BigInt.asUintN(64, operand) === operand;
  if (value instanceof KvU64 && isU64) return new KvU64(BigInt.asUintN(64, value.value + operand));
  const name = value instanceof KvU64 ? "KvU64" : typeNames[typeof value];
  const text = `Cannot sum ${name} with ${typeNames[typeof operand]}`;
  const own = new NotU64Error("sum", key, "operand");
  throw denoError(own, name === undefined ? "unsupported value type" : text);
}

/** The names of the types that Deno adds, in its errors. */
const typeNames: Readonly<Record<string, string>> = { number: "Number", bigint: "BigInt" };

function entryAfter(
  mutation: StoredMutation,
  before: StoredEntry | undefined,
): StoredEntry | undefined {
  const { type, key } = mutation;
  // The versionstamp is not known yet, and no mutation depends on it.
  if (type === "set") return { key, value: mutation.value, versionstamp: "", expireAt: undefined };
  if (type === "delete") return undefined;
  if (type === "deleteExpired") return before;
  return { key, value: combineU64(mutation, before), versionstamp: "", expireAt: undefined };
}
