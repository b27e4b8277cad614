import { copyData } from "../../model/rows/copy-of-data.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidArgumentError, InvalidQueryError } from "../../errors/query-errors.js";
import { knownNames } from "../../errors/nearest-name.js";
import { hasIndexKey } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { primaryKeyOf } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { type AnyAggregateQuery, parseBy } from "../../query/aggregate/aggregate-query.js";
import { namedIndex } from "../../query/plan/named-index.js";
import { planUnique, primaryKeyIn, uniqueValues } from "../../query/plan/plan-unique.js";
import { queriedKey } from "../../query/plan/fields/queried-part.js";
import { allFilters } from "../../relations/filter/filters.js";
import { withRelatedFilters } from "../../relations/filter/parse-filters.js";
import {
  allowedOptions,
  type CallOptions,
  generatedOptions,
  type RepositoryMethod,
} from "../call-options.js";
import { parseOptions, whereOf } from "../parse-options.js";

/**
 * Returns the options of a call of a generated repository as those of any repository. There, the
 * conditions on an index are about its parts, and an upsert creates only rows with its key.
 *
 * @throws {UnknownIndexError} if the model has no index of the name.
 * @throws {InvalidQueryError} if a condition is on a field that the index does not have, or if no
 * row can have a value of an upsert's key.
 * @throws the errors of `parseOptions`.
 */
export function parseGeneratedOptions(
  context: TableContext,
  method: RepositoryMethod,
  argument: unknown,
): CallOptions {
  const refused = (argument as CallOptions | null | undefined)?.whereRelated;
  if (refused !== undefined && !generatedOptions[method].has("whereRelated"))
    refuseRelated(context.model.name, method);
  const { whereRelated, ...options } = parseOptions(context, method, argument, generatedOptions);
  if (whereRelated !== undefined) {
    const { related } = parseRelatedConditions(context, whereRelated);
    return { ...parseConditions(context, method, options), related };
  }
  return parseConditions(context, method, options);
}

/** Refuses a call that takes no conditions on related rows. */
export function refuseRelated(model: string, method: string): never {
  const reason = `${method} takes no conditions on related rows; use a list, a count or a change of many rows`;
  throw new InvalidArgumentError(model, "whereRelated", reason);
}

function parseConditions(
  context: TableContext,
  method: RepositoryMethod,
  options: CallOptions,
): CallOptions {
  if (method === "upsert") return withUpsertKey(context, options);
  const { index, where } = options;
  if (method === "groupBy") return withGroupOrder(context.model, options);
  const selectsAll = index === undefined && where === undefined;
  if (selectsAll || methodsOfOne.has(method)) return options;
  return index === undefined
    ? onPrimaryKey(context.model, method, options)
    : { ...options, where: conditionsOn(context.model, namedIndex(context.model, index), where) };
}

/**
 * Returns the conditions on related rows of a view of a repository.
 *
 * @throws {InvalidQueryError} if a name is not that of a relation, or a condition is not valid.
 */
function parseRelatedConditions(
  context: TableContext,
  whereRelated: unknown,
): Pick<CallOptions, "related"> {
  const { model, links } = context;
  const fail = (place: string, reason: string): never => {
    throw new InvalidQueryError(model.name, place, reason);
  };
  const all = (whereRelated as readonly unknown[]).flatMap((where) => {
    if (!isPlainObject(where)) {
      return fail("whereRelated", "it must be an object: the conditions of each relation");
    }
    const query: AnyQuery = withRelatedFilters<AnyQuery>(context, { where });
    const [unknown] = Object.keys(query.where ?? {});
    if (unknown !== undefined) {
      const advice = knownNames(unknown, links.relations.keys(), "relations");
      fail(`whereRelated.${unknown}`, `${model.name} has no such relation; ${advice}`);
    }
    return query.related ?? [];
  });
  return { related: allFilters(context, all) };
}

/** Converts the direction of groups to the `orderBy` of `groupBy`. */
function withGroupOrder(
  model: CompiledModel,
  { order, ...options }: CallOptions & AnyAggregateQuery,
): CallOptions {
  const { index, where, by } = options;
  const [first] = parseBy(model, by);
  const orderBy = order === undefined ? undefined : { [String(first)]: order };
  const conditions = index === undefined ? where : conditionsOn(model, namedIndex(model, index), where);
  return { ...options, where: conditions, ...(orderBy && { orderBy }) } as CallOptions;
}

/** The methods that find one row by all fields of a unique key. */
const methodsOfOne: ReadonlySet<RepositoryMethod> = new Set([
  "findUnique",
  "findUniqueOrThrow",
  "watch",
  "update",
  "delete",
  "rank",
  "restore",
  "purge",
]);

/**
 * Returns the options of a query by the primary key. If the method accepts an order, the rows are
 * in the order of the key, as those of an index are in the order of the index.
 */
function onPrimaryKey(
  model: CompiledModel,
  method: RepositoryMethod,
  options: CallOptions,
): CallOptions {
  const key: QueriedKey = { label: "the primary key", fields: model.primaryKey };
  const where = conditionsOn(model, key, options.where);
  if (!allowedOptions[method].has("orderBy") || methodsWithoutOrder.has(method)) {
    return { ...options, where };
  }
  const { order = "asc", ...others } = options;
  const orderBy = model.primaryKey.map((field) => ({ [field]: order }));
  return { ...others, where, orderBy };
}

/** The methods whose result does not depend on the order. */
const methodsWithoutOrder: ReadonlySet<RepositoryMethod> = new Set(["count", "exists"]);

/** An index or the primary key. */
interface QueriedKey {
  /** The key in errors. */
  readonly label?: string;
  readonly name?: string;
  readonly fields: readonly string[];
  readonly each?: number | undefined;
}

/**
 * Converts conditions on the first fields of a key to the `where` of a query. An element becomes
 * `{ has: element }`. Empty bounds, `{}`, restrict nothing and are left out.
 */
function conditionsOn(
  model: CompiledModel,
  { name, label = `the index ${name}`, fields, each }: QueriedKey,
  conditions: unknown,
): AnyRow {
  if (!isPlainObject(conditions)) {
    throw new InvalidQueryError(model.name, "where", "it must be a plain object");
  }
  const where: Record<string, unknown> = {};
  for (const field of Object.keys(conditions)) {
    const position = fields.indexOf(field);
    if (position < 0) {
      const reason = `${label} has no such field: it has ${fields.join(", ")}`;
      throw new InvalidQueryError(model.name, field, reason);
    }
    const condition = conditions[field];
    if (isPlainObject(condition) && Object.keys(condition).length === 0) continue;
    where[field] = each === position ? { has: condition } : condition;
  }
  return where;
}

/** The key that identifies the row of an upsert. */
interface UpsertKey {
  /** The fields of the key whose values a new row gets if it has none. */
  readonly fields: readonly string[];
  /** True if a new row has the key. */
  readonly isKeyOf: (row: AnyRow) => boolean;
  /** The key in errors. */
  readonly label: string;
}

/**
 * Returns the options of an upsert that creates only a row with the key in `where`. Fields of the
 * key that `create` lacks are filled in.
 *
 * @throws {UnknownIndexError} if the model has no unique index of the name.
 * @throws {InvalidQueryError} if no row can have one of the values.
 */
function withUpsertKey(context: TableContext, options: CallOptions): CallOptions {
  const { model } = context;
  const where = whereOf(context, options);
  const { fields, isKeyOf, label } = upsertKeyOf(model, where, options.index);
  const assertNew = (row: AnyRow): void => {
    if (isKeyOf(row)) return;
    const reason = `the new row would have other values in ${label} than the upsert names`;
    throw new InvalidArgumentError(model.name, "create", reason);
  };
  return { ...options, create: fillIn(model, options.create, fields, where), assertNew };
}

function upsertKeyOf(
  model: CompiledModel,
  where: AnyRow,
  indexName: string | undefined,
): UpsertKey {
  const [index] = planUnique(model, where, indexName);
  if (index === undefined || index === "primaryKey") {
    const parts = primaryKeyIn(model, where);
    return {
      fields: model.primaryKey,
      isKeyOf: (row) => isSameKey(primaryKeyOf(model, row), parts),
      label: "the primary key",
    };
  }
  const key = queriedKey(model, index, uniqueValues(model, index, where));
  const held = index.parts.filter((part, i) => part.compute === undefined && index.each !== i);
  return {
    fields: held.map(({ field }) => field),
    isKeyOf: (row) => hasIndexKey(model, index, row, primaryKeyOf(model, row), key),
    label: `index ${index.name}`,
  };
}

/** Returns the data of a new row. Fields that are absent get the values that the key determines. */
function fillIn(
  model: CompiledModel,
  data: unknown,
  fields: readonly string[],
  values: AnyRow,
): unknown {
  // The schema refuses data that is not an object.
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  const row: Record<string, unknown> = { ...copyData(model, data) };
  for (const field of fields) {
    // Every object inherits properties such as `constructor`, so only own properties count.
    if (!Object.hasOwn(row, field) || row[field] === undefined) row[field] = values[field];
  }
  return row;
}
