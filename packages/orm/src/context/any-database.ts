import { ModelDefinitionError } from "../errors/schema-errors.js";
import type { TableContext } from "./table-context.js";

declare const databaseBrand: unique symbol;

/** A database with any models. `migrate` and `tableOf` take one. */
export interface AnyDatabase {
  readonly [databaseBrand]?: never;
}

type TableContexts = ReadonlyMap<string, TableContext>;

const contextsOf = new WeakMap<AnyDatabase, TableContexts>();

export function registerDatabase(database: AnyDatabase, tables: TableContexts): void {
  contextsOf.set(database, tables);
}

export function tableContexts(database: AnyDatabase): TableContexts {
  const contexts = contextsOf.get(database);
  if (contexts === undefined)
    throw new TypeError("The database must be an object that createDatabase returned.");
  return contexts;
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
