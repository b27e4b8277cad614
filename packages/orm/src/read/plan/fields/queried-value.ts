import type { KvKey, KvKeyPart } from "@keywright/core";
import { InvalidQueryError } from "../../../errors/query-errors.js";
import { IndexKeyError } from "../../../errors/row-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { elementSchema } from "../../../model/fields/field-schema.js";
import { kindOf, type ValueKind } from "../../../model/fields/value-kind.js";
import { indexedPart } from "../../../model/keys/index-entries.js";
import { keyPartOf } from "../../../model/keys/key-parts.js";

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

const kindsOfModels = new WeakMap<CompiledModel, ReadonlyMap<string, ValueKind>>();

/** The model of the last call, because the next call usually has the same model. */
let latest:
  | { readonly model: CompiledModel; readonly kinds: ReadonlyMap<string, ValueKind> }
  | undefined;

/** Returns the kinds of the fields, or of their elements, that the schema determines. */
function kindsOf(model: CompiledModel): ReadonlyMap<string, ValueKind> {
  if (latest?.model === model) return latest.kinds;
  const kinds = kindsOfModels.get(model) ?? kindsOfShape(model);
  kindsOfModels.set(model, kinds);
  latest = { model, kinds };
  return kinds;
}

function kindsOfShape(model: CompiledModel): ReadonlyMap<string, ValueKind> {
  const found = new Map<string, ValueKind>();
  for (const [field, schema] of Object.entries(model.schema.shape)) {
    const kind = kindOf(elementSchema(schema) ?? schema);
    if (kind !== undefined) found.set(field, kind);
  }
  return found;
}

/** The types of key parts. A query may give a date as its milliseconds since 1970. */
const partTypes: Readonly<Record<ValueKind, string>> = {
  string: "string",
  number: "number",
  bigint: "bigint",
  boolean: "boolean",
  date: "number",
  bytes: "object",
};

export function assertKind(model: CompiledModel, field: string, value: unknown): void {
  const kind = kindsOf(model).get(field);
  if (kind !== undefined && typeof value !== kind) assertValue(model, field, kind, value);
}

/** Refuses values of the wrong kind, except of fields that an index of a plan normalizes. */
export function assertKinds(
  model: CompiledModel,
  where: AnyRow,
  plans: readonly { readonly index: CompiledIndex | undefined }[],
): void {
  const kinds = kindsOf(model);
  for (const field in where) {
    const kind = kinds.get(field);
    // Fast path: most conditions are values that need no conversion to a key part.
    if (kind === undefined || typeof where[field] === kind) continue;
    if (plans.some(({ index }) => isNormalized(index, field))) continue;
    assertCondition(model, field, kind, where[field]);
  }
}

function isNormalized(index: CompiledIndex | undefined, field: string): boolean {
  return index?.parts.some((part) => part.field === field && part.normalize) ?? false;
}

function assertCondition(
  model: CompiledModel,
  field: string,
  kind: ValueKind,
  condition: unknown,
): void {
  if (condition === null) return;
  if (keyPartOf(condition) !== undefined) {
    assertValue(model, field, kind, condition);
    return;
  }
  for (const operand of Object.values(condition as object)) {
    // `in` and `between` have a list, the others one value or a nested condition.
    for (const value of Array.isArray(operand) ? operand : [operand]) {
      assertCondition(model, field, kind, value);
    }
  }
}

function assertValue(model: CompiledModel, field: string, kind: ValueKind, value: unknown): void {
  if (typeof value === kind) return;
  if (typeof keyPartOf(value) === partTypes[kind]) return;
  const reason = `it is ${nameOf(value)}, but the field holds ${kind === "bytes" ? kind : `${kind}s`}`;
  throw new InvalidQueryError(model.name, field, reason);
}

function nameOf(value: unknown): string {
  if (value instanceof Date) return "a date";
  return typeof value === "object" ? "bytes" : `a ${typeof value}`;
}
