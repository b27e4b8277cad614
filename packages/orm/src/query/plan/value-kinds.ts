import type * as z from "zod";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { elementSchema } from "../../model/fields/field-values.js";
import type { QueryPlan } from "./query-plan.js";

/** The kind of a field's values, if all of them have the same kind. */
export type ValueKind = "string" | "number" | "bigint" | "boolean" | "date" | "bytes";

interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
}

const plainKinds: ReadonlySet<string> = new Set(["string", "number", "bigint", "boolean", "date"]);
const wrappers: ReadonlySet<string> = new Set([
  "optional",
  "nullable",
  "default",
  "prefault",
  "catch",
  "readonly",
  "nonoptional",
]);

/**
 * Returns the kind of a schema's values. Undefined if the values may have several kinds, or if the
 * schema does not determine their kind.
 */
export function kindOf(schema: z.core.$ZodType): ValueKind | undefined {
  const { type, innerType } = schema._zod.def as Definition;
  if (plainKinds.has(type)) return type as ValueKind;
  if (wrappers.has(type)) return innerType && kindOf(innerType);
  return type === "custom" && schema._zod.bag.Class === Uint8Array ? "bytes" : undefined;
}

const kindsOfModels = new WeakMap<CompiledModel, ReadonlyMap<string, ValueKind>>();

/** The model of the last call, because the next call usually has the same model. */
let latest:
  | { readonly model: CompiledModel; readonly kinds: ReadonlyMap<string, ValueKind> }
  | undefined;

/**
 * Returns the kinds of a model's fields, and of the elements of its arrays. A field is left out if
 * the schema does not determine its kind.
 */
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

/**
 * The type of the key parts of each kind. The key part of a date is its milliseconds since 1970,
 * and a query may give it as that number.
 */
const partTypes: Readonly<Record<ValueKind, string>> = {
  string: "string",
  number: "number",
  bigint: "bigint",
  boolean: "boolean",
  date: "number",
  bytes: "object",
};

/**
 * Refuses a value that no row can have in a field.
 *
 * @throws {InvalidQueryError} if the value is of another kind than the values of the field.
 */
export function assertKind(model: CompiledModel, field: string, value: unknown): void {
  const kind = kindsOf(model).get(field);
  if (kind !== undefined) assertValue(model, field, kind, value);
}

/**
 * Refuses conditions with values that no row can have. A field is not checked if an index of one of
 * the plans normalizes its values.
 *
 * @param plans the plans of the query. Its conditions were checked when the plans were made.
 * @throws {InvalidQueryError} if a value is of another kind than the values of its field.
 */
export function assertKinds(
  model: CompiledModel,
  where: AnyRow,
  plans: readonly QueryPlan[],
): void {
  const kinds = kindsOf(model);
  for (const field in where) {
    const kind = kinds.get(field);
    if (kind === undefined) continue;
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
  // Fast path: most values need no conversion to a key part.
  if (typeof value === kind) return;
  if (typeof keyPartOf(value) === partTypes[kind]) return;
  const reason = `it is ${nameOf(value)}, but the field holds ${kind === "bytes" ? kind : `${kind}s`}`;
  throw new InvalidQueryError(model.name, field, reason);
}

function nameOf(value: unknown): string {
  if (value instanceof Date) return "a date";
  return typeof value === "object" ? "bytes" : `a ${typeof value}`;
}
