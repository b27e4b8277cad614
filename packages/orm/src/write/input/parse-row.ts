import * as z from "zod";
import { RowInvalidError } from "../../errors/row-errors.js";
import { ownIssue } from "../../errors/row-issue.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isAbsent } from "../../model/keys/index-entries.js";
import { allReady, whenReady } from "../../promises/when-ready.js";
import { type ChangedField, changedField, prefixPaths } from "./field-operations.js";
import { type Parsed, parse } from "./parse.js";

/**
 * Parses the data of a new row: fills in defaults and applies transforms. Returns a promise only if
 * the schema has asynchronous parts.
 *
 * @throws {RowInvalidError} with all issues if the schema rejects the data, or if a transform
 * leaves a field absent that an index needs.
 */
export function parseRow(model: CompiledModel, data: unknown): AnyRow | Promise<AnyRow> {
  return rowOf(model, parse(model.schema, data));
}

function rowOf(model: CompiledModel, result: Parsed | Promise<Parsed>): AnyRow | Promise<AnyRow> {
  if (result instanceof Promise) return result.then((parsed) => rowOf(model, parsed));
  if (!result.success) throw invalidError(model, result.error.issues);
  const row = result.data as AnyRow;
  if (model.requiredFields.size > 0) assertIndexedFields(model, undefined, row);
  return row;
}

/**
 * Parses the data of a new row as {@link parseRow}, and refuses fields that the schema does not
 * have. Zod's objects leave them out, and then a misspelled optional field would be lost.
 *
 * @throws {RowInvalidError} with all issues.
 */
export function parseNewRow(model: CompiledModel, data: AnyRow): AnyRow | Promise<AnyRow> {
  const unknown = unknownFields(model, data);
  if (unknown.length === 0) return rowOf(model, parse(model.schema, data));
  return whenReady(parse(model.schema, data), (result) => {
    throw invalidError(model, [...unknown, ...(result.success ? [] : result.error.issues)]);
  });
}

function unknownFields(model: CompiledModel, data: AnyRow): z.core.$ZodIssue[] {
  // A strict object refuses them itself.
  const { shape, catchall } = model.schema._zod.def;
  const isStrict = catchall?._zod.def.type === "never";
  if (isStrict && model.copied.size === 0) return [];
  const issues: z.core.$ZodIssue[] = [];
  for (const field of Object.keys(data)) {
    if ((isStrict || Object.hasOwn(shape, field)) && !model.copied.has(field)) continue;
    if (data[field] !== undefined && fieldSchema(model, field) === undefined) {
      issues.push(unrecognized(model, field));
    }
  }
  return issues;
}

/**
 * Returns a stored row with some fields changed, each by a value or an operation. The refinements
 * of the whole schema are applied to the changed row. Returns a promise only if the schema has
 * asynchronous parts.
 *
 * @throws {RowInvalidError} with all issues if the schema rejects the changes.
 */
export function parsePatch(
  model: CompiledModel,
  row: AnyRow,
  data: AnyRow,
): AnyRow | Promise<AnyRow> {
  if (Array.isArray(data)) {
    const message = "Invalid input: expected object, received array";
    const issue: z.core.$ZodIssue = { code: "invalid_type", expected: "object", path: [], message };
    throw invalidError(model, [issue]);
  }
  const fields: string[] = [];
  const changes: (ChangedField | Promise<ChangedField>)[] = [];
  const unknown: z.core.$ZodIssue[] = [];
  for (const field of Object.keys(data)) {
    const input = data[field];
    if (input === undefined) continue;
    const schema = fieldSchema(model, field);
    if (schema === undefined) {
      unknown.push(unrecognized(model, field));
      continue;
    }
    fields.push(field);
    const before = Object.hasOwn(row, field) ? row[field] : undefined;
    const isExtra = !Object.hasOwn(model.schema._zod.def.shape, field);
    changes.push(changedField(schema, before, input, isExtra));
  }
  return whenReady(allReady(changes), (results) => {
    const changed: Record<string, unknown> = { ...row };
    const issues = [...unknown];
    for (let i = 0; i < results.length; i++) {
      const result = results[i] as ChangedField;
      const field = fields[i] as string;
      if (!result.success) issues.push(...prefixPaths(field, result.issues));
      else if (result.value === undefined) delete changed[field];
      else changed[field] = result.value;
    }
    if (issues.length > 0) throw invalidError(model, issues);
    return whenReady(withRefinements(model, changed), (after) => {
      assertIndexedFields(model, row, after);
      return after;
    });
  });
}

/**
 * Checks that a row has the fields of indexes that must contain every row. Only the output of a
 * transform, or a row written by hand, can lack such a field. An update may leave it absent.
 */
function assertIndexedFields(
  model: CompiledModel,
  before: AnyRow | undefined,
  after: AnyRow,
): void {
  let issues: z.core.$ZodIssue[] | undefined;
  for (const [field, index] of model.requiredFields) {
    if (!isAbsent(after[field]) || (before !== undefined && isAbsent(before[field]))) continue;
    const message = `the index ${index} needs a value; if rows may lack one, add .nullable() after the transform`;
    issues ??= [];
    issues.push({ code: "custom", path: [field], message, params: ownIssue });
  }
  if (issues !== undefined) throw invalidError(model, issues);
}

/** Returns the schema of a field: its own, or the catchall. Undefined if data cannot have it. */
function fieldSchema(model: CompiledModel, field: string): z.core.$ZodType | undefined {
  const { shape, catchall } = model.schema._zod.def;
  if (model.copied.has(field)) return undefined;
  if (Object.hasOwn(shape, field)) return shape[field];
  // Assigning a property of this name would set the prototype of the row.
  if (field === "__proto__" || catchall?._zod.def.type === "never") return undefined;
  if (model.computed.has(field)) return undefined;
  return catchall;
}

const refinements = new WeakMap<z.ZodObject, z.ZodType>();

/** Applies the refinements of the whole schema to a row, in the form in which it will be stored. */
function withRefinements(model: CompiledModel, row: AnyRow): AnyRow | Promise<AnyRow> {
  const { checks = [] } = model.schema._zod.def;
  if (checks.length === 0) return row;
  let schema = refinements.get(model.schema);
  if (schema === undefined) {
    schema = z.looseObject({}).check(...(checks as z.core.$ZodCheck<object>[]));
    refinements.set(model.schema, schema);
  }
  return whenReady(parse(schema, row), (result) => {
    if (!result.success) throw invalidError(model, result.error.issues);
    return result.data as AnyRow;
  });
}

function unrecognized(model: CompiledModel, field: string): z.core.$ZodIssue {
  if (model.computed.has(field)) {
    const message = "it is computed and not stored; leave it out";
    return { code: "custom", path: [field], message, params: ownIssue };
  }
  const copied = model.copied.get(field);
  if (copied !== undefined) {
    const message = `it is a copy of ${copied.from} of ${copied.relation}; leave it out`;
    return { code: "custom", path: [field], message, params: ownIssue };
  }
  const message = `Unrecognized key: ${JSON.stringify(field)}`;
  return { code: "unrecognized_keys", keys: [field], path: [], message };
}

function invalidError(model: CompiledModel, issues: readonly z.core.$ZodIssue[]): RowInvalidError {
  const { name, schema } = model;
  return new RowInvalidError(name, { error: new z.ZodError([...issues]), schema });
}
