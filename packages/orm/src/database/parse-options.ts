import type { AnyQuery } from "../context/any-query.js";
import type { TableContext } from "../context/table-context.js";
import { knownNames } from "../errors/nearest-name.js";
import { optionAdvice } from "../errors/option-advice.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { isPlainObject } from "../model/is-plain-object.js";
import { withReads } from "../query/read/rows/result-row.js";
import { withRelatedFilters } from "../relations/filter/parse-filters.js";
import { includedRelations } from "../relations/load/include-query.js";
import {
  type AllowedOptions,
  allowedOptions,
  type CallOptions,
  type RepositoryMethod,
} from "./call-options.js";

/** The methods whose `where` can have conditions on related rows. */
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

/**
 * Checks the argument of a call and returns it as options. Unknown options are refused, because a
 * call with a misspelled option would do something else than intended.
 *
 * @throws {InvalidArgumentError} if the argument is not an object, or if an option is unknown or
 * not valid.
 */
export function parseOptions(
  context: TableContext,
  method: RepositoryMethod,
  argument: unknown,
  allowed: AllowedOptions = allowedOptions,
): CallOptions {
  const { model } = context;
  if (argument === undefined && listsRows.has(method)) {
    const reason = "it has no where, orderBy or index; add one, or read every row with scan()";
    throw new InvalidArgumentError(model.name, "argument", reason);
  }
  const options: CallOptions = objectOf(context, argument, "argument");
  const known = allowed[method];
  for (const name in options) {
    if (known.has(name)) continue;
    const reason = `${method} has no such option; ${optionAdvice(name, known)}`;
    throw new InvalidArgumentError(model.name, name, reason);
  }
  const { select, include, signal, withDeleted } = options;
  if (signal !== undefined && !((signal as unknown) instanceof AbortSignal))
    throw new InvalidArgumentError(model.name, "signal", "it must be an AbortSignal");
  const isOfSoftDelete = withDeleted !== undefined || method === "restore" || method === "purge";
  if (isOfSoftDelete) assertSoftDelete(model, method, withDeleted);
  if (select !== undefined) assertSelect(model, select);
  // Check it before a write. If the call failed after the commit, the write would stay.
  if (include !== undefined) includedRelations(context, include);
  const complete = select === undefined ? options : withReads(context, options);
  return allowed === allowedOptions && selectsRows.has(method)
    ? withRelatedFilters(context, complete)
    : complete;
}

/** @throws {InvalidArgumentError} if deleted rows of the model are not marked but removed. */
function assertSoftDelete(
  model: CompiledModel,
  method: RepositoryMethod,
  withDeleted: unknown,
): void {
  const isOption = withDeleted !== undefined;
  if (isOption && typeof withDeleted !== "boolean")
    throw new InvalidArgumentError(model.name, "withDeleted", "it must be true or false");
  if (model.softDelete !== undefined) return;
  const reason = "the model has no softDelete, so a delete removes its rows; declare softDelete";
  throw new InvalidArgumentError(model.name, isOption ? "withDeleted" : method, reason);
}

/**
 * @throws {InvalidArgumentError} if it is not an object, or if it names a field that the schema
 * does not have.
 */
function assertSelect(model: CompiledModel, select: unknown): void {
  if (typeof select !== "object" || select === null || Array.isArray(select)) {
    const reason = "it must be an object, such as { name: true }";
    throw new InvalidArgumentError(model.name, "select", reason);
  }
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
export function whereOf({ model }: TableContext, { where }: AnyQuery): AnyRow {
  if (isPlainObject(where)) return where;
  throw new InvalidArgumentError(model.name, "where", "it must be a plain object");
}

/** @throws {InvalidArgumentError} if the value is not an object. */
export function objectOf({ model }: TableContext, value: unknown, name: string): AnyRow {
  if (typeof value === "object" && value !== null) return value as AnyRow;
  const reason =
    name === "argument"
      ? "it must be an object of options, such as { data: … } or { where: … }"
      : "it must be an object";
  throw new InvalidArgumentError(model.name, name, reason);
}
