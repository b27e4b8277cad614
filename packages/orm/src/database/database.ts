import type { Kv, KvLike } from "@keywright/core";
import { ModelCatalog } from "../catalog/model-catalog.js";
import { type AnyDatabase, registerDatabase, tableContextOf } from "../context/any-database.js";
import type { AnyHooks, DatabaseSettings } from "../context/database-settings.js";
import { assertMaxReads } from "../context/read-meter.js";
import { type TableContext, tablesWithin } from "../context/table-context.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import { assertDistinctPrefixes, compileModel } from "../model/compile-model.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { isModel } from "../model/define-model.js";
import type { Model } from "../model/model.js";
import { linkRelations } from "../relations/link-relations.js";
import type { RowMigration } from "../schema/define-migration.js";
import { relationTexts } from "../schema/model-manifest.js";
import { limitsOf } from "../transaction/limits-of.js";
import { runTransaction, type TransactionOptions } from "../transaction/run-transaction.js";
import type { CheckedModels } from "./checked-models.js";
import type { DatabaseOptions } from "./database-options.js";
import type { Repository } from "./repository/repository.js";
import { RowOperations } from "./repository/row-operations.js";
import { Table } from "./table/table.js";

/** Models by the name that they have in the program. */
export type Models = Readonly<Record<string, Model>>;

/** Models → a repository for each of them. */
export type Repositories<M extends Models> = {
  readonly [K in keyof M]: Repository<M[K], M>;
};

/** Models → a repository for each of them, and `transaction`. */
export type Database<M extends Models> = AnyDatabase &
  Repositories<M> & {
    /**
     * Runs a function whose reads and writes are one: its reads hold until its writes are made, all at once, or it runs
     * again. Where it throws, nothing is written. It runs again whenever others changed what it read, so that it should do
     * nothing but read and write through `tx`.
     *
     * Every row that it read, found or not, is as it was read when its writes are made. So are the rows of a range; one
     * that comes into the range meanwhile is noticed where the model has `live: true`.
     *
     * @throws {TransactionConflictError} after `maxAttempts`.
     * @throws {TransactionEndedError} from calls that it did not await.
     * @throws {LimitExceededError} for more reads or writes than the database takes at once.
     */
    readonly transaction: <T>(
      body: (tx: AnyDatabase & Repositories<M>) => Promise<T>,
      options?: TransactionOptions,
    ) => Promise<T>;
  };

/**
 * Opens models on a key-value database: one that `openKv` opened, or a Deno KV. A model that the database does not know
 * yet is entered in its catalog; an index that is new to a model that it knows is built by `migrate`.
 *
 * ```ts
 * const db = await createDatabase({ kv: await openKv("./data"), models: { users: User } });
 * const ada = await db.users.create({ data: { email: "ada@example.com", favoriteColor: "green" } });
 * ```
 *
 * @throws {ModelDefinitionError} where two models or indexes would store their entries in the same place, or a relation
 * leads nowhere.
 * @throws {InvalidArgumentError} for options that are not valid.
 * @throws {StaleSchemaError} where the catalog is of a later format than this version reads.
 */
export async function createDatabase<const M extends Models>(
  options: DatabaseOptions<M> & { readonly kv: KvLike; readonly models: M & CheckedModels<M> },
): Promise<Database<M>> {
  return await openModels<M>(options);
}

/**
 * The same for generated code, whose models were checked when it was generated: the compiler does not look at where their
 * relations lead.
 *
 * @throws what `createDatabase` throws.
 */
export async function openModels<M extends Models>(
  options: DatabaseOptions<M> & { readonly kv: KvLike; readonly models: M },
): Promise<Database<M>> {
  assertOptions(options);
  // The keys that the ORM reads have no parts but those that it wrote.
  const kv = options.kv as Kv;
  const names = new Map<string, string>();
  const models = Object.entries<Model>(options.models).map(([name, model]) => {
    const compiled = compileModel(model);
    if (name === "transaction") {
      throw new ModelDefinitionError(compiled.name, "name", "a database has a method of this name");
    }
    names.set(compiled.name, name);
    return compiled;
  });
  assertDistinctPrefixes(models);
  const links = linkRelations(models);
  const settings = settingsOf(options, names);
  const prefixes = new Map(models.map((model) => [model.name, model.prefix]));
  const tables = new Map<string, TableContext>();
  for (const model of models) {
    tables.set(model.name, {
      kv,
      model,
      catalog: await ModelCatalog.open(
        kv,
        model,
        migrationsOf(model, options.migrations),
        relationTexts(model, prefixes),
      ),
      limits: limitsOf(kv),
      settings,
      links: links.get(model.name)!,
      tables,
      transaction: undefined,
    });
  }
  const transaction = <T>(
    body: (tx: AnyDatabase) => Promise<T>,
    transactionOptions?: TransactionOptions,
  ): Promise<T> =>
    runTransaction(
      kv,
      (tx) => body(databaseOf(tablesWithin(tables, tx), names, {})),
      transactionOptions,
    );
  return databaseOf(tables, names, { transaction }) as Database<M>;
}

/** Options as they may come from a program without types. */
interface GivenOptions {
  readonly kv?: unknown;
  readonly models?: unknown;
  readonly hooks?: object | undefined;
  readonly migrations?: unknown;
  readonly onQuery?: unknown;
}

/** @throws {InvalidArgumentError} for what is missing, or not what it has to be. It names no model. */
function assertOptions(options: GivenOptions): void {
  const fail = (argument: string, reason: string): never => {
    throw new InvalidArgumentError("", argument, reason);
  };
  if (typeof options !== "object" || options === null) fail("argument", "it has to be an object");
  const { kv, models, hooks, migrations = [], onQuery } = options;
  const isKv = typeof kv === "object" && kv !== null && "atomic" in kv;
  if (!isKv) fail("kv", "it has to be a database: what openKv, or Deno.openKv, resolved to");
  if (typeof models !== "object" || models === null) {
    fail("models", "it has to be an object: { users: User }");
  }
  for (const [name, model] of Object.entries(models as object)) {
    if (!isModel(model)) fail(`models.${name}`, "it has to be what defineModel returned");
  }
  for (const name of Object.keys(hooks ?? {})) {
    if (!Object.hasOwn(models as object, name)) fail(`hooks.${name}`, "there is no such model");
  }
  if (!Array.isArray(migrations)) fail("migrations", "it has to be a list");
  for (const [position, migration] of (migrations as readonly RowMigration[]).entries()) {
    const at = `migrations[${position}]`;
    if (typeof migration?.up !== "function") fail(at, "it has to be what defineMigration returned");
  }
  if (onQuery !== undefined && typeof onQuery !== "function") {
    fail("onQuery", "it has to be a function");
  }
}

function migrationsOf(
  model: CompiledModel,
  migrations: readonly RowMigration[] = [],
): readonly RowMigration[] {
  return migrations.filter((migration) => migration.model === model.name);
}

function databaseOf(
  tables: ReadonlyMap<string, TableContext>,
  names: ReadonlyMap<string, string>,
  methods: object,
): AnyDatabase {
  const repositories: Record<string, RowOperations> = {};
  for (const [modelName, name] of names) {
    const context = tables.get(modelName);
    if (context !== undefined) repositories[name] = new RowOperations(context);
  }
  const database: AnyDatabase = Object.freeze({ ...repositories, ...methods });
  registerDatabase(database, tables);
  return database;
}

function settingsOf<M extends Models>(
  options: DatabaseOptions<M>,
  names: ReadonlyMap<string, string>,
): DatabaseSettings {
  const { maxReads = Number.POSITIVE_INFINITY, validateReads = false, onQuery } = options;
  assertMaxReads("", maxReads);
  // What a hook takes and returns is the model's own; the code that calls it hands over what the schema made.
  const given = (options.hooks ?? {}) as Readonly<Record<string, AnyHooks | undefined>>;
  const hooks: Record<string, AnyHooks> = {};
  for (const [modelName, name] of names) {
    const own = given[name];
    if (own !== undefined) hooks[modelName] = own;
  }
  return { maxReads, validateReads, onQuery, hooks };
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
  return new Table(tableContextOf(database, modelName));
}
