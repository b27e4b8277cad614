import type { KvKey, KvKeyPart } from "@keywright/core";
import { InvalidQueryError } from "../../../errors/query-errors.js";
import { IndexKeyError } from "../../../errors/row-errors.js";
import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { indexedPart } from "../../../model/keys/index-entries.js";

/** Returns the key part that an index holds for a value of a query. */
export function queriedPart(
  model: CompiledModel,
  index: CompiledIndex,
  position: number,
  value: unknown,
): KvKeyPart {
  const { field, normalize } = index.parts[position]!;
  assertWellFormed(model, field, value);
  let part: KvKeyPart;
  try {
    part = indexedPart(model, index, position, value);
  } catch (error) {
    if (!(error instanceof IndexKeyError)) throw error;
    const result =
      normalize === undefined ? "its value" : `the result of normalize (index ${index.name})`;
    const reason =
      error.cause === undefined
        ? `a key cannot hold ${result}`
        : `normalize of the index ${index.name} threw for its value (cause says why)`;
    throw new InvalidQueryError(model.name, field, reason, { cause: error.cause ?? error });
  }
  if (normalize !== undefined) assertWellFormed(model, field, part);
  return part;
}

/**
 * Returns the key of the entry that a unique index has for values of a query.
 *
 * @throws the errors of {@link queriedPart}.
 */
export function queriedKey(
  model: CompiledModel,
  index: CompiledIndex,
  values: readonly unknown[],
): KvKey {
  const key: KvKeyPart[] = [index.place];
  for (let i = 0; i < values.length; i++) key.push(queriedPart(model, index, i, values[i]));
  return key;
}

/**
 * Refuses a string with a lone surrogate, because no key can hold it.
 *
 * @throws {InvalidQueryError} if the value is such a string.
 */
export function assertWellFormed(model: CompiledModel, field: string, value: unknown): void {
  if (typeof value !== "string" || value.isWellFormed()) return;
  const reason = "it has a lone surrogate, which a key cannot hold; toWellFormed() replaces it";
  throw new InvalidQueryError(model.name, field, reason);
}
