import { ModelDefinitionError } from "../../errors/schema-errors.js";
import { ScopeError } from "../../errors/scope-error.js";
import type { TableContext } from "./table-context.js";

declare const databaseBrand: unique symbol;

/** A database with any models. `migrate` and `tableOf` take one. */
export interface AnyDatabase {
  readonly [databaseBrand]?: never;
}

type TableContexts = ReadonlyMap<string, TableContext>;

const contextsOf = new WeakMap<AnyDatabase, TableContexts>();
/** The tables of scopes, which `migrate` and the like refuse. */
const contextsOfScopes = new WeakMap<object, TableContexts>();

const sharedKey = Symbol.for("@keywright/orm: databases");

/**
 * The databases that any copy of this package has opened. A program may contain several, of
 * different versions or in different folders.
 */
function databasesOfAllCopies(): WeakSet<object> {
  const shared = globalThis as { [sharedKey]?: WeakSet<object> };
  shared[sharedKey] ??= new WeakSet();
  return shared[sharedKey];
}

export function registerDatabase(database: AnyDatabase, tables: TableContexts): void {
  contextsOf.set(database, tables);
  databasesOfAllCopies().add(database);
}

export function registerScope(scope: object, tables: TableContexts): void {
  contextsOfScopes.set(scope, tables);
}

export function tableContexts(database: AnyDatabase): TableContexts {
  const contexts = contextsOf.get(database);
  if (contexts !== undefined) return contexts;
  throw new TypeError(
    databasesOfAllCopies().has(database)
      ? "The database was opened by another copy of @keywright/orm. Call functions such as migrate from the copy whose createDatabase opened it. `npm ls @keywright/orm` lists the copies, and `npm dedupe` makes them one if their versions permit."
      : "The database must be an object that createDatabase returned.",
  );
}

export function tableContextOf(database: AnyDatabase, modelName: string): TableContext {
  const context = tableContexts(database).get(modelName);
  if (context !== undefined) return context;
  throw new ModelDefinitionError(
    modelName,
    "name",
    "the database was opened without this model; pass it to createDatabase",
  );
}

/**
 * Returns the table of a model in a database or in a scope of one.
 *
 * @throws {ScopeError} if the scope does not have the model.
 * @throws {ModelDefinitionError} if the database was opened without it.
 */
export function tableWithin(source: object, modelName: string): TableContext {
  const context = contextsOfScopes.get(source)?.get(modelName);
  if (context === undefined) return tableContextOf(source, modelName);
  if (!context.isOutside) return context;
  const reason = `${modelName} is outside of the scope, because it lacks a field of it; use the repository of the database`;
  throw new ScopeError(modelName, "", reason);
}
