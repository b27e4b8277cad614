import type { KvKeyPart } from "@keywright/core";
import { InvalidQueryError, UnindexedQueryError } from "../errors/query-errors.js";
import { indexedPart } from "../indexes/index-entries.js";
import { keyPartOf } from "../indexes/key-parts.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import type { Direction } from "./any-query.js";
import { type IndexRead, type PartRange, rangeOf } from "./index-read.js";

/** A query by fields, as `findMany` takes it. */
export interface FieldQuery {
  readonly where?: AnyRow | undefined;
  readonly orderBy?: Readonly<Record<string, Direction | undefined>> | undefined;
}

/**
 * The primary key or unique index whose fields a `where` names, all of them and no other.
 *
 * @throws {UnindexedQueryError} where there is none.
 */
export function planUnique(model: CompiledModel, where: AnyRow): "primaryKey" | CompiledIndex {
  const fields = definedFields(where);
  const isNamed = (key: readonly string[]) =>
    key.length === fields.length && key.every((field) => fields.includes(field));
  if (isNamed(model.primaryKey)) return "primaryKey";
  const index = model.indexes.find((candidate) => candidate.unique && isNamed(candidate.fields));
  if (index === undefined) throw new UnindexedQueryError(model.name, fields, suggest(fields, true));
  return index;
}

/**
 * The index reads that serve a query, best first: those that pin the most fields.
 *
 * @throws {UnindexedQueryError} where there is none.
 * @throws {InvalidQueryError} for a condition without bounds, or with others than `gt gte lt lte`.
 */
export function planQuery(model: CompiledModel, query: FieldQuery): IndexRead[] {
  const where = query.where ?? {};
  const orderBy = query.orderBy ?? {};
  const filtered = definedFields(where);
  assertConditions(model, where, filtered);
  const ordered = definedFields(orderBy);
  const directions = new Set(ordered.map((field) => orderBy[field]));
  const reads: IndexRead[] = [];
  if (filtered.length + ordered.length > 0 && directions.size <= 1) {
    for (const index of [undefined, ...model.indexes]) {
      const read = readOf(model, index, where, filtered, ordered);
      if (read !== undefined && isComplete(model, read))
        reads.push({ ...read, reverse: directions.has("desc") });
    }
  }
  if (reads.length === 0) {
    const fields = [...new Set([...filtered, ...ordered])];
    throw new UnindexedQueryError(model.name, fields, suggest(fields, false));
  }
  return reads.sort((a, b) => pinned(b) - pinned(a));
}

/**
 * The read of an index by values for its first fields, of which the last may be bounds. Values that are undefined at
 * the end do not count.
 *
 * @throws {UnindexedQueryError} for bounds before the last value, a gap, or more values than the index has fields.
 */
export function planIndexRead(
  model: CompiledModel,
  index: CompiledIndex,
  values: readonly unknown[],
  reverse: boolean,
): IndexRead {
  const given = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  const fields = index.fields.slice(0, given.length);
  const where = Object.fromEntries(fields.map((field, i) => [field, given[i]]));
  const read = given.length > fields.length ? undefined : readOf(model, index, where, fields, []);
  if (read === undefined) throw new UnindexedQueryError(model.name, fields, suggest(fields, false));
  return { ...read, reverse };
}

/** How an index serves a query: equal values for its first fields, bounds on the next, then the order asked for. */
function readOf(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  where: AnyRow,
  filtered: readonly string[],
  ordered: readonly string[],
): IndexRead | undefined {
  const fields = keyFields(model, index);
  const equals: KvKeyPart[] = [];
  let range: PartRange = {};
  let served = 0;
  for (const field of fields) {
    const condition = where[field];
    if (condition === undefined || condition === null) break;
    served++;
    const toPart = (value: unknown) =>
      index?.fields.includes(field)
        ? indexedPart(model, index, index.fields.indexOf(field), value)
        : keyPartOf(value);
    if (isRange(condition)) {
      const fail = (reason: string): never => {
        throw new InvalidQueryError(model.name, field, reason);
      };
      range = rangeOf(condition, toPart, fail);
      break;
    }
    const part = toPart(condition);
    if (part === undefined) return undefined;
    equals.push(part);
  }
  if (served < filtered.length || !isOrderedBy(fields, equals.length, ordered)) return undefined;
  return { index, equals, range, reverse: false };
}

/** The fields by which the keys of an index are sorted: its own, then the primary key where it ends the keys. */
function keyFields(model: CompiledModel, index: CompiledIndex | undefined): readonly string[] {
  if (index === undefined) return model.primaryKey;
  const isDisjoint = !model.primaryKey.some((field) => index.fields.includes(field));
  return index.unique || !isDisjoint ? index.fields : [...index.fields, ...model.primaryKey];
}

/** Whether an index read has every row that the query means: a row that lacks a field of the index is not in it. */
function isComplete(model: CompiledModel, { index, equals, range }: IndexRead): boolean {
  const named = equals.length + (isBounded(range) ? 1 : 0);
  return !index?.fields.slice(named).some((field) => model.optionalFields.has(field));
}

function isBounded(range: PartRange): boolean {
  return Object.keys(range).length > 0;
}

/** Whether keys with these fields, of which the first `pinned` have one value each, are sorted by `ordered`. */
function isOrderedBy(
  fields: readonly string[],
  pinned: number,
  ordered: readonly string[],
): boolean {
  const free = ordered.filter((field) => !fields.slice(0, pinned).includes(field));
  return free.every((field, i) => fields[pinned + i] === field);
}

/** A condition that says nothing is a mistake: `{ gte: undefined }` would be every row. */
function assertConditions(model: CompiledModel, where: AnyRow, fields: readonly string[]): void {
  for (const field of fields) {
    const condition = where[field];
    if (typeof condition !== "object" || condition === null || !isRange(condition)) continue;
    if (Object.values(condition).some((value) => value !== undefined)) continue;
    throw new InvalidQueryError(model.name, field, "it has no bounds");
  }
}

function isRange(condition: unknown): condition is AnyRow {
  return keyPartOf(condition) === undefined && typeof condition === "object";
}

function pinned(read: IndexRead): number {
  return read.equals.length * 2 + (isBounded(read.range) ? 1 : 0);
}

function definedFields(fields: AnyRow): string[] {
  return Object.keys(fields).filter((field) => fields[field] !== undefined);
}

/** An index, in code, that would serve a query over these fields. */
function suggest(fields: readonly string[], unique: boolean): string {
  const names = fields.map((field) => field.charAt(0).toUpperCase() + field.slice(1));
  const key = fields.length === 1 ? JSON.stringify(fields[0]) : JSON.stringify(fields);
  return `by${names.join("And")}: { key: ${key}${unique ? ", unique: true" : ""} }`;
}
