import type { Kv, KvLike } from "@keywright/core";
import { ModelCatalog } from "../catalog/model-catalog.js";
import { ModelDefinitionError } from "../errors/orm-errors.js";
import {
  assertDistinctPrefixes,
  type CompiledModel,
  compileModel,
} from "../model/compile-model.js";
import type { Model } from "../model/model.js";
import { limitsOf, type TableContext } from "../query/table-context.js";
import { Repository } from "./repository.js";
import { Table } from "./table.js";

/** Models by the name that they have in the program. */
export type Models = Readonly<Record<string, Model>>;

declare const databaseBrand: unique symbol;

/** A database whatever its models: what `migrate` and `tableOf` take. */
export interface AnyDatabase {
  readonly [databaseBrand]?: never;
}

/** Models → a repository for each of them. */
export type Database<M extends Models> = AnyDatabase & {
  readonly [K in keyof M]: Repository<M[K]>;
};

/** What stands behind a database: for each model's own name, what reading and writing its rows needs. */
const contextsOf = new WeakMap<AnyDatabase, ReadonlyMap<string, TableContext>>();

/**
 * Opens models on a key-value database: one that `openKv` opened, or a Deno KV. A model that the database does not know
 * yet is entered in its catalog; an index that is new to a model that it knows is built by `migrate`.
 *
 * ```ts
 * const db = await createDatabase({ kv: await openKv("./data"), models: { users: User } });
 * const ada = await db.users.create({ data: { email: "ada@example.com", favoriteColor: "green" } });
 * ```
 *
 * @throws {ModelDefinitionError} where two models or indexes would store their entries in the same place.
 * @throws {IndexChangedError} where the database has an index of another definition under the same name.
 */
export async function createDatabase<const M extends Models>(options: {
  readonly kv: KvLike;
  readonly models: M;
}): Promise<Database<M>> {
  const { models } = options;
  // The keys that the ORM reads have no parts but those that it wrote.
  const kv = options.kv as Kv;
  const compiled = Object.entries(models).map(
    ([name, model]) => [name, compileModel(model)] as const,
  );
  assertDistinctPrefixes(compiled.map(([, model]) => model));
  const contexts = new Map<string, TableContext>();
  const repositories: Record<string, Repository<Model>> = {};
  for (const [name, model] of compiled) {
    const context = await openTable(kv, model);
    contexts.set(model.name, context);
    repositories[name] = new Repository(context);
  }
  const database = Object.freeze(repositories);
  contextsOf.set(database, contexts);
  return database as Database<M>;
}

/**
 * The rows of a model by its own name, with types that the caller spells out: for generated repositories.
 *
 * @throws {ModelDefinitionError} where the database has no such model.
 */
export function tableOf<Row, CreateInput, UpdateInput>(
  database: AnyDatabase,
  modelName: string,
): Table<Row, CreateInput, UpdateInput> {
  const context = tableContexts(database).get(modelName);
  if (context === undefined) {
    throw new ModelDefinitionError(modelName, "name", "the database was opened without this model");
  }
  return new Table(context);
}

/** What stands behind each model of a database, by the model's own name. */
export function tableContexts(database: AnyDatabase): ReadonlyMap<string, TableContext> {
  const contexts = contextsOf.get(database);
  if (contexts === undefined) throw new TypeError("This is not what createDatabase returned.");
  return contexts;
}

async function openTable(kv: Kv, model: CompiledModel): Promise<TableContext> {
  return {
    kv,
    model,
    catalog: await ModelCatalog.open(kv, model),
    limits: limitsOf(kv),
  };
}
