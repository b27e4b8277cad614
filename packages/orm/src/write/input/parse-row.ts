import * as z from "zod";
import { RowInvalidError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { rowIssues } from "../../model/stored-row.js";
import { type ChangedField, changedField, under } from "./field-operations.js";
import { allReady, parse, whenReady } from "./parse.js";

/**
 * The row that a schema makes of what `create` was given: defaults filled in, transforms applied. A promise only where the
 * schema has asynchronous parts.
 *
 * @throws {RowInvalidError} with every issue; also where a transform made nothing of a field that an index needs.
 */
export function parseRow(model: CompiledModel, data: unknown): AnyRow | Promise<AnyRow> {
  return whenReady(parse(model.schema, data), (result) => {
    if (!result.success) throw invalid(model, result.error.issues);
    const row = result.data as AnyRow;
    assertIndexedFields(model, undefined, row);
    return row;
  });
}

/**
 * A stored row with some of its fields changed, each by a value or by an operation. Where the schema as a whole has
 * conditions of its own, the changed row is put to them too. A promise only where the schema has asynchronous parts.
 *
 * @throws {RowInvalidError} with every issue.
 */
export function parsePatch(
  model: CompiledModel,
  row: AnyRow,
  data: AnyRow,
): AnyRow | Promise<AnyRow> {
  if (Array.isArray(data)) {
    const message = "Invalid input: expected object, received array";
    const issue: z.core.$ZodIssue = { code: "invalid_type", expected: "object", path: [], message };
    throw invalid(model, [issue]);
  }
  const fields: string[] = [];
  const changes: (ChangedField | Promise<ChangedField>)[] = [];
  const unknown: z.core.$ZodIssue[] = [];
  for (const field of Object.keys(data)) {
    const given = data[field];
    if (given === undefined) continue;
    const schema = fieldSchema(model, field);
    if (schema === undefined) {
      unknown.push(unrecognized(field));
      continue;
    }
    fields.push(field);
    const before = Object.hasOwn(row, field) ? row[field] : undefined;
    const isExtra = !Object.hasOwn(model.schema._zod.def.shape, field);
    changes.push(changedField(schema, before, given, isExtra));
  }
  return whenReady(allReady(changes), (results) => {
    const changed: Record<string, unknown> = { ...row };
    const issues = [...unknown];
    for (let i = 0; i < results.length; i++) {
      const result = results[i] as ChangedField;
      const field = fields[i] as string;
      if (!result.success) issues.push(...under(field, result.issues));
      else if (result.value === undefined) delete changed[field];
      else changed[field] = result.value;
    }
    if (issues.length > 0) throw invalid(model, issues);
    return whenReady(withConditions(model, changed), (after) => {
      assertIndexedFields(model, row, after);
      return after;
    });
  });
}

/**
 * Checks that a row has what its indexes need, by which queries find every row. Only what a transform makes can lack it, and
 * rows that somebody wrote by hand, which may stay as they are.
 */
function assertIndexedFields(
  model: CompiledModel,
  before: AnyRow | undefined,
  after: AnyRow,
): void {
  let issues: z.core.$ZodIssue[] | undefined;
  for (const [field, index] of model.requiredFields) {
    if (!isAbsent(after[field]) || (before !== undefined && isAbsent(before[field]))) continue;
    const message = `The index ${index} needs a value here. If a row may be without one, the schema has to say so behind the transform: .nullable()`;
    issues ??= [];
    issues.push({ code: "custom", path: [field], message, input: after[field] });
  }
  if (issues !== undefined) throw invalid(model, issues);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The schema of a field, or of all that have none of their own; undefined where there are no such fields. */
function fieldSchema(model: CompiledModel, field: string): z.core.$ZodType | undefined {
  const { shape, catchall } = model.schema._zod.def;
  if (Object.hasOwn(shape, field)) return shape[field];
  // A property of this name would be the object's prototype.
  if (field === "__proto__" || catchall?._zod.def.type === "never") return undefined;
  return catchall;
}

const conditions = new WeakMap<z.ZodObject, z.ZodType>();

/** Puts a whole row to the conditions of its schema as a whole. What they see is the row as it is stored. */
function withConditions(model: CompiledModel, row: AnyRow): AnyRow | Promise<AnyRow> {
  const { checks = [] } = model.schema._zod.def;
  if (checks.length === 0) return row;
  let schema = conditions.get(model.schema);
  if (schema === undefined) {
    schema = z.looseObject({}).check(...(checks as z.core.$ZodCheck<object>[]));
    conditions.set(model.schema, schema);
  }
  return whenReady(parse(schema, row), (result) => {
    if (!result.success) throw invalid(model, result.error.issues);
    return result.data as AnyRow;
  });
}

function unrecognized(field: string): z.core.$ZodIssue {
  const message = `Unrecognized key: ${JSON.stringify(field)}`;
  return { code: "unrecognized_keys", keys: [field], path: [], message };
}

function invalid(model: CompiledModel, issues: readonly z.core.$ZodIssue[]): RowInvalidError {
  const error = new z.ZodError([...issues]);
  return new RowInvalidError(model.name, rowIssues(error), error);
}
