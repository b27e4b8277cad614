import { knownNames } from "../errors/nearest-name.js";
import { optionAdvice } from "../errors/option-advice.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { isPlainObject } from "../model/is-plain-object.js";
import { copyFields, deepCopy } from "../model/rows/copy-of-data.js";
import { assertArgument, flag, is, plainObject } from "../model/shape.js";
import { type AnyAggregateQuery, parseBy } from "../read/aggregate/aggregate-query.js";
import { relatedFilters, withRelatedFilters } from "../read/filter/parse-filters.js";
import { withReads } from "../read/find/rows/shaped-result.js";
import { includedRelations } from "../read/include/include-query.js";
import { keyConditions } from "../read/plan/fields/key-conditions.js";
import type { AnyQuery } from "../state/context/any-query.js";
import type { RelatedModel, TableContext } from "../state/context/table-context.js";
import {
  allowedOptions,
  type CallKind,
  type CallOptions,
  generatedOptions,
  type RepositoryMethod,
} from "./call-options.js";

/** The methods that find rows, which can have conditions on related rows. */
const selectsRows: ReadonlySet<RepositoryMethod> = new Set<RepositoryMethod>([
  "findFirst",
  "findFirstOrThrow",
  "findMany",
  "count",
  "exists",
  "explain",
  "watchMany",
  "updateMany",
  "deleteMany",
]);

/** The methods that read rows by an index. */
const listsRows: ReadonlySet<RepositoryMethod> = new Set<RepositoryMethod>([
  "findFirst",
  "findFirstOrThrow",
  "findMany",
  "explain",
  "watchMany",
]);

/** The methods whose conditions are on the first fields of one key if they are generated. */
const readsKey: ReadonlySet<RepositoryMethod> = new Set<RepositoryMethod>([
  ...selectsRows,
  "aggregate",
  "groupBy",
  "distinct",
]);

const abortSignal = is<AbortSignal>((value) => value instanceof AbortSignal, "an AbortSignal");

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

const anyObject = is<AnyRow>(isObject, "an object");
const optionsObject = is<AnyRow>(
  isObject,
  "an object of options, such as { data: … } or { where: … }",
);
const selection = is<object>(
  (value) => isObject(value) && !Array.isArray(value),
  "an object, such as { name: true }",
);

/**
 * Checks the argument of a call and returns it as options. Unknown options are refused, because a
 * call with a misspelled option would do something else than intended.
 *
 * @throws {InvalidArgumentError} if the argument is not an object, or if an option is unknown or
 * not valid.
 * @throws {InvalidQueryError} if a condition on related rows, or of a generated call, is not valid.
 * @throws {UnknownIndexError} if the model has no index of the name of a generated call.
 */
export function parseOptions(
  context: TableContext,
  method: RepositoryMethod,
  argument: unknown,
  kind: CallKind = "inferred",
): CallOptions {
  const { model } = context;
  if (argument === undefined && listsRows.has(method)) {
    const reason = "it has no where, orderBy or index; add one, or read every row with scan()";
    throw new InvalidArgumentError(model.name, "argument", reason);
  }
  if (typeof argument !== "object" || argument === null)
    return objectOf(context, argument, "argument");
  const options: CallOptions = argument;
  const known = (kind === "inferred" ? allowedOptions : generatedOptions)[method];
  for (const name in options) {
    if (known.has(name)) continue;
    if (kind !== "inferred" && name === "whereRelated") refuseRelated(model.name, method);
    const reason = `${method} has no such option; ${optionAdvice(name, known)}`;
    throw new InvalidArgumentError(model.name, name, reason);
  }
  const { select, include, signal, withDeleted } = options;
  if (signal !== undefined) assertArgument(model.name, "signal", signal, abortSignal);
  const isOfSoftDelete = withDeleted !== undefined || method === "restore" || method === "purge";
  if (isOfSoftDelete) assertSoftDelete(model, method, withDeleted);
  if (select !== undefined) assertSelect(model, select);
  // Check it before a write. If the call failed after the commit, the write would stay.
  if (include !== undefined) includedRelations(context, include);
  const complete = select === undefined ? options : withReads(context, options);
  if (kind === "inferred") {
    const mayFilter = context.links.relations.size > 0 && selectsRows.has(method);
    return mayFilter ? withRelatedFilters(context, complete) : complete;
  }
  const { whereRelated } = complete;
  const query = whereRelated
    ? { ...complete, related: relatedFilters(context, whereRelated) }
    : complete;
  const isByKey = kind === "generated" && readsKey.has(method);
  return isByKey ? keyQuery(model, method, query) : query;
}

/** Refuses a call that takes no conditions on related rows. */
export function refuseRelated(model: string, method: string): never {
  const reason = `${method} takes no conditions on related rows; use a list, a count or a change of many rows`;
  throw new InvalidArgumentError(model, "whereRelated", reason);
}

/**
 * Returns a query with conditions on the first fields of a key as one of any repository. Without an
 * index, the key is the primary key, and the rows are in its order.
 */
function keyQuery(model: CompiledModel, method: RepositoryMethod, query: CallOptions): CallOptions {
  const { index, order } = query;
  if (method === "groupBy") {
    const [field] = parseBy(model, (query as AnyAggregateQuery).by);
    const where = index === undefined ? query.where : keyConditions(model, index, query.where);
    return { ...query, where, ...(order !== undefined && { orderBy: { [field!]: order } }) };
  }
  if (index === undefined && query.where === undefined) return query;
  const where = keyConditions(model, index, query.where);
  if (index !== undefined || !isOrdered(method)) return { ...query, where };
  const orderBy = model.primaryKey.map((field) => ({ [field]: order ?? "asc" }));
  return { ...query, where, order: undefined, orderBy };
}

/** True if a method takes an order of rows, and its result depends on it. */
function isOrdered(method: RepositoryMethod): boolean {
  return allowedOptions[method].has("orderBy") && method !== "count" && method !== "exists";
}

/** @throws {InvalidArgumentError} if deleted rows of the model are not marked but removed. */
function assertSoftDelete(
  model: CompiledModel,
  method: RepositoryMethod,
  withDeleted: unknown,
): void {
  const isOption = withDeleted !== undefined;
  if (isOption) assertArgument(model.name, "withDeleted", withDeleted, flag);
  if (model.softDelete !== undefined) return;
  const reason = "the model has no softDelete, so a delete removes its rows; declare softDelete";
  throw new InvalidArgumentError(model.name, isOption ? "withDeleted" : method, reason);
}

/**
 * @throws {InvalidArgumentError} if it is not an object, or if it names a field that the schema
 * does not have.
 */
function assertSelect(model: CompiledModel, select: unknown): void {
  assertArgument(model.name, "select", select, selection);
  const { shape: fields, catchall } = model.schema._zod.def;
  if (catchall !== undefined && catchall._zod.def.type !== "never") return;
  for (const field in select) {
    if (Object.hasOwn(fields, field) || model.computed.has(field)) continue;
    const known = [...Object.keys(fields), ...model.computed.keys()];
    const reason = `the schema has no such field; ${knownNames(field, known, "fields")}`;
    throw new InvalidArgumentError(model.name, `select.${field}`, reason);
  }
}

/**
 * Returns the `where` of a call that identifies one row.
 *
 * @throws {InvalidArgumentError} if it is not a plain object.
 */
export function whereOf({ model }: RelatedModel, { where }: AnyQuery): AnyRow {
  // Fast path: each read of one row comes here.
  if (!isPlainObject(where)) assertArgument(model.name, "where", where, plainObject);
  return where as AnyRow;
}

/** @throws {InvalidArgumentError} if the value is not an object. */
export function objectOf({ model }: TableContext, value: unknown, name: string): AnyRow {
  assertArgument(model.name, name, value, name === "argument" ? optionsObject : anyObject);
  return value;
}

/**
 * Returns a copy of the argument of a call, because the call reads it asynchronously and the caller
 * may change it in the meantime. The data of a write is not copied here. The functions that write
 * copy it before they wait for anything.
 */
export function copyQuery<Query extends object>(query: Query): Query {
  // An invalid argument is refused when the call runs.
  if (!isPlainObject(query)) return query;
  const copy: { -readonly [Name in keyof AnyQuery]: AnyQuery[Name] } = { ...query };
  if (isPlainObject(copy.where)) copy.where = copyFields(copy.where);
  if (copy.orderBy !== undefined) copy.orderBy = deepCopy(copy.orderBy);
  if (copy.select !== undefined) copy.select = deepCopy(copy.select);
  if (copy.include !== undefined) copy.include = deepCopy(copy.include);
  return copy as Query;
}
