import type * as z from "zod";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { elementSchema } from "../../model/field-values.js";
import type { QueryPlan } from "./query-plan.js";

/** Of which kind all values of a field are. */
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

/** The kind of a schema's values; undefined where it may have several, or does not tell. */
export function kindOf(schema: z.core.$ZodType): ValueKind | undefined {
  const { type, innerType } = schema._zod.def as Definition;
  if (plainKinds.has(type)) return type as ValueKind;
  if (wrappers.has(type)) return innerType && kindOf(innerType);
  return type === "custom" && schema._zod.bag.Class === Uint8Array ? "bytes" : undefined;
}

const ofModels = new WeakMap<CompiledModel, ReadonlyMap<string, ValueKind>>();

/** The model that was last asked about: mostly it is the next one too. */
let last:
  | { readonly model: CompiledModel; readonly kinds: ReadonlyMap<string, ValueKind> }
  | undefined;

/** The kinds of the fields of a model, and of the elements of its arrays, as far as the schema tells. */
function kindsOf(model: CompiledModel): ReadonlyMap<string, ValueKind> {
  if (last?.model === model) return last.kinds;
  const kinds = ofModels.get(model) ?? kindsOfShape(model);
  ofModels.set(model, kinds);
  last = { model, kinds };
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

/** What the key parts of a kind are. A date is the number of its milliseconds, and may be given as one. */
const partTypes: Readonly<Record<ValueKind, string>> = {
  string: "string",
  number: "number",
  bigint: "bigint",
  boolean: "boolean",
  date: "number",
  bytes: "object",
};

/**
 * Refuses a value that no row has in a field, since it is of another kind.
 *
 * @throws {InvalidQueryError} for one.
 */
export function assertKind(model: CompiledModel, field: string, value: unknown): void {
  const kind = kindsOf(model).get(field);
  if (kind !== undefined) assertIsOf(model, field, kind, value);
}

/**
 * Refuses values of the conditions of a query that are of another kind than their fields, where each of the indexes holds the
 * values as they are.
 *
 * @param plans of the query, by which its conditions have been checked.
 * @throws {InvalidQueryError} for one.
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

/** Whether an index holds something else than the values of a field. */
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
    assertIsOf(model, field, kind, condition);
    return;
  }
  for (const given of Object.values(condition as object)) {
    // What stands in `in`, `between` and `has`, or a bound.
    for (const value of Array.isArray(given) ? given : [given]) {
      assertCondition(model, field, kind, value);
    }
  }
}

function assertIsOf(model: CompiledModel, field: string, kind: ValueKind, value: unknown): void {
  // Most values are as they stand in keys.
  if (typeof value === kind) return;
  if (typeof keyPartOf(value) === partTypes[kind]) return;
  const reason = `it is ${nameOf(value)}, and the values of the field are of the kind ${kind}`;
  throw new InvalidQueryError(model.name, field, reason);
}

function nameOf(value: unknown): string {
  if (value instanceof Date) return "a date";
  return typeof value === "object" ? "bytes" : `a ${typeof value}`;
}
