import type * as z from "zod";
import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../compiled-model.js";
import { isSameInKey } from "../fields/key-kinds.js";
import { definitionOf, type Schema } from "../fields/schema-definition.js";
import { defaultIndexPrefix } from "../indexes/index-prefix.js";
import { hiddenIndex } from "../indexes/plain-index.js";
import type { Model } from "../model.js";
import type { Relation } from "../relations/relation-definition.js";

/**
 * Checks the option `softDelete`, and returns the field that marks deleted rows.
 *
 * @throws {ModelDefinitionError} if the field is no date that rows may lack, or is in a key.
 */
export function compileSoftDelete(
  { name, schema, softDelete, indexes }: Model,
  primaryKey: readonly string[],
): string | undefined {
  if (softDelete === undefined) return undefined;
  const fail = (reason: string): never => {
    throw new ModelDefinitionError(name, "softDelete", reason);
  };
  if (typeof softDelete !== "string") fail('it must be the name of a field, such as "deletedAt"');
  const field = JSON.stringify(softDelete);
  const type = Object.hasOwn(schema.shape, softDelete) ? schema.shape[softDelete] : undefined;
  const advice = `write ${softDelete}: z.date().nullable().default(null)`;
  if (type === undefined) return fail(`the schema has no field ${field}; ${advice}`);
  const { isDate, isNullable, isOptional } = dateIn(type);
  if (!isDate || !(isNullable || isOptional))
    fail(`the field ${field} must be a date that is nullable or optional; ${advice}`);
  if (primaryKey.includes(softDelete)) fail(`the field ${field} cannot be in the primary key`);
  for (const [indexName, { key }] of Object.entries(indexes)) {
    const parts: readonly unknown[] = Array.isArray(key) ? key : [key];
    const isPart = (part: unknown) =>
      part === softDelete || (part as { desc?: unknown } | null)?.desc === softDelete;
    if (!parts.some(isPart)) continue;
    const reason = `its key has ${field}, which marks deleted rows, and indexes leave these out; no row would be in it`;
    throw new ModelDefinitionError(name, `indexes.${indexName}.key`, reason);
  }
  return softDelete;
}

interface DateField {
  readonly isDate: boolean;
  readonly isNullable: boolean;
  readonly isOptional: boolean;
}

function dateIn(type: Schema): DateField {
  let isNullable = false;
  let isOptional = false;
  for (let current: Schema | undefined = type; current !== undefined; ) {
    const def = definitionOf(current);
    if (def.type === "date") return { isDate: true, isNullable, isOptional };
    if (def.type === "nullable") isNullable = true;
    else if (def.type === "optional") isOptional = true;
    else if (def.type !== "default" && def.type !== "readonly") break;
    current = def.innerType;
  }
  return { isDate: false, isNullable, isOptional };
}

/**
 * Returns the indexes of a model that leave marked rows out, with others that have only the marked
 * rows: one in the order of their times, and one for each reference that a deletion clears.
 */
export function withoutMarkedRows(
  prefix: string,
  { schema: { shape }, relations }: Model,
  indexes: readonly CompiledIndex[],
  softDelete: string | undefined,
): readonly CompiledIndex[] {
  if (softDelete === undefined) return indexes;
  const unmarked = indexes.map((index) => ({
    ...index,
    unmarked: softDelete,
    keyFields: index.keyFields && new Set([...index.keyFields, softDelete]),
  }));
  const byTime = markedIndex(prefix, shape, softDelete, []);
  const byReference = new Map<string, CompiledIndex>();
  for (const fields of clearedReferences(relations, shape)) {
    const index = markedIndex(prefix, shape, softDelete, fields);
    byReference.set(index.name, index);
  }
  return [...unmarked, byTime, ...byReference.values()];
}

/** Returns the fields of each `belongsTo` relation with `onDelete: "setNull"`. */
function clearedReferences(
  relations: Readonly<Record<string, Relation>>,
  shape: Readonly<Record<string, z.ZodType>>,
): (readonly string[])[] {
  return Object.values(relations ?? {}).flatMap((relation) => {
    if (relation?.kind !== "belongsTo" || relation.onDelete !== "setNull") return [];
    const { fields } = relation;
    return fields.every((field) => Object.hasOwn(shape, field)) ? [fields] : [];
  });
}

/** A row has no entry without its mark, because the time is part of the key. */
function markedIndex(
  prefix: string,
  shape: Readonly<Record<string, z.ZodType>>,
  softDelete: string,
  reference: readonly string[],
): CompiledIndex {
  const fields = [...reference, softDelete];
  const place = defaultIndexPrefix(`${prefix}_marked`, `by_${fields.join("_and_")}`);
  const inKey = new Map(
    fields.flatMap((field, i) => (isSameInKey(shape[field]!) ? [[field, i + 1] as const] : [])),
  );
  return hiddenIndex(markedIndexName(softDelete, reference), place, fields, { inKey });
}

/**
 * Returns the name of the hidden index of the rows that a field marks as deleted.
 *
 * @param reference the fields of the reference by which it finds them.
 */
export function markedIndexName(softDelete: string, reference: readonly string[] = []): string {
  return ["marked", softDelete, ...reference].join(".");
}

export function isMarked({ softDelete }: CompiledModel, row: AnyRow): boolean {
  return softDelete !== undefined && row[softDelete] !== undefined && row[softDelete] !== null;
}

/** Returns a row with the mark of a deletion. */
export function markedRow({ softDelete }: CompiledModel, row: AnyRow, time: Date): AnyRow {
  return softDelete === undefined ? row : { ...row, [softDelete]: time };
}

/** Returns when a row was marked as deleted. Undefined if it is not marked. */
export function markOf({ softDelete }: CompiledModel, row: AnyRow): Date | undefined {
  const mark = softDelete === undefined ? undefined : row[softDelete];
  return mark instanceof Date ? mark : undefined;
}

let lastMark = 0;
/** How far the times of cascades may be ahead of the clock, in milliseconds. */
const maxAhead = 10;

/** Returns the time for the mark of a single row. */
export function nextMark(): Date {
  const now = Date.now();
  lastMark = Math.max(lastMark, now);
  return new Date(now);
}

/**
 * Returns the time for all marks of a cascade. It differs from those of rows that this process has
 * marked just before, by which a restoration tells which rows the cascade has marked.
 */
export function nextCascadeMark(): Date {
  const now = Date.now();
  lastMark = lastMark >= now && lastMark < now + maxAhead ? lastMark + 1 : now;
  return new Date(lastMark);
}

/** Returns a row without the mark of a deletion: null, or no field if the schema refuses null. */
export function unmarkedRow({ softDelete, schema }: CompiledModel, row: AnyRow): AnyRow {
  if (softDelete === undefined) return row;
  const { [softDelete]: _, ...unmarked } = row;
  return dateIn(schema.shape[softDelete]!).isNullable ? { ...row, [softDelete]: null } : unmarked;
}

/**
 * True if an index lacks rows that the model returns: those with a mark that the model no longer
 * has. Only the definition that the database has of an index, until `migrate` rebuilds it.
 */
export function leavesOutMore({ softDelete }: CompiledModel, { unmarked }: CompiledIndex): boolean {
  return unmarked !== undefined && unmarked !== softDelete;
}
