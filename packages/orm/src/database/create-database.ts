import type { Kv, KvEntryMaybe, KvLike } from "@keywright/core";
import { recordUnguardedCopies } from "../derived/copies/unguarded-copies.js";
import { resolvePendingIndex } from "../derived/entries/duplicates/resolve-released.js";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import type { AnyJobs } from "../jobs/define/define-job.js";
import { type CompiledJobs, compileJobs, jobQueues } from "../jobs/job-queues.js";
import { jobModel } from "../jobs/store/job-model.js";
import { assertDistinctPrefixes, compileModel } from "../model/compile-model.js";
import type { CompiledModel } from "../model/compiled-model.js";
import type { Model } from "../model/model.js";
import { capabilitiesOf } from "../state/catalog/capabilities-of.js";
import { type CatalogEntry, catalogKey } from "../state/catalog/catalog-entry.js";
import { ModelCatalog } from "../state/catalog/model-catalog.js";
import { isReadOnlyKv, readOnlyKv } from "../state/catalog/read-only-kv.js";
import { registerDatabase } from "../state/context/any-database.js";
import type { AnyHooks, DatabaseSettings } from "../state/context/database-settings.js";
import { assertMaxReads } from "../state/context/read-meter.js";
import type { TableContext } from "../state/context/table-context.js";
import { linkRelations } from "../state/references/link-relations.js";
import { readStored } from "../state/rows/read-rows.js";
import type { RowMigration } from "../state/schema/define-migration.js";
import { relationTexts } from "../state/schema/manifests/model-manifest.js";
import { assertFreePlaces } from "./assert-free-places.js";
import { assertOptions } from "./assert-options.js";
import type { AcceptedModels } from "./checked-models.js";
import type { Database, Models } from "./database.js";
import type { DatabaseOptions } from "./database-options.js";
import { composed } from "./middleware.js";
import { databaseOf, jobMethodNames, methodNames, rootDatabase } from "./root-database.js";

/**
 * Opens a database with models on a key-value database, either one that `openKv` has opened or a
 * Deno KV. A model that the key-value database does not contain yet is added to its catalog. A new
 * index of a model that it already contains is built by `migrate`. With `readOnly`, nothing is
 * written.
 *
 * ```ts
 * const db = await createDatabase({ kv: await openKv("./data"), models: { users: User } });
 * const ada = await db.users.create({
 *   data: { email: "ada@example.com", favoriteColor: "green" },
 * });
 * ```
 *
 * @throws {ModelDefinitionError} if a model is not valid, if two models or indexes would store
 * their entries in the same place, also if only the database has one of them, or if a relation
 * names a model or field that does not exist.
 * @throws {InvalidArgumentError} if an option is not valid.
 * @throws {StaleSchemaError} if the catalog has a later format than this version can read.
 */
export async function createDatabase<
  const M extends Models,
  const J extends AnyJobs | undefined = undefined,
>(
  options: DatabaseOptions<M, J> & { readonly kv: KvLike; readonly models: AcceptedModels<M> },
): Promise<Database<M, J>> {
  return await openModels<M, J>(options as typeof options & { readonly models: M });
}

/**
 * The same as `createDatabase`, for generated code. The types of the relations are not checked,
 * because the models were checked when the code was generated.
 *
 * @throws the errors of `createDatabase`.
 */
export async function openModels<M extends Models, J extends AnyJobs | undefined = undefined>(
  options: DatabaseOptions<M, J> & { readonly kv: KvLike; readonly models: M },
): Promise<Database<M, J>> {
  assertOptions(options);
  // A `KvLike` may return keys with other kinds of parts, but the ORM reads only keys that it has
  // written.
  const kv = options.readOnly ? readOnlyKv(options.kv as Kv) : (options.kv as Kv);
  const { keyOrder, limits } = capabilitiesOf(kv);
  const names = new Map<string, string>();
  const jobs = options.jobs && compileJobs(options.jobs);
  const models = Object.entries<Model>(options.models).map(([name, model]) => {
    const compiled = compileModel(model, keyOrder);
    if (methodNames.has(name) || (jobs !== undefined && jobMethodNames.has(name))) {
      throw new ModelDefinitionError(compiled.name, "name", "a database has a method of this name");
    }
    if (name === "__proto__")
      throw new ModelDefinitionError(
        compiled.name,
        "name",
        "models cannot have the name __proto__",
      );
    names.set(compiled.name, name);
    return compiled;
  });
  if (jobs !== undefined) models.push(compileModel(jobModel, keyOrder));
  assertDistinctPrefixes(models);
  const links = linkRelations(models);
  const settings = settingsOf(options, names, jobs);
  const readAt = performance.now();
  const entries = await readStored({ kv, limits }, models.map(catalogKey));
  const added = models.filter((_, i) => entries[i]!.versionstamp === null);
  await assertFreePlaces(kv, added, models);
  const tables = new Map<string, TableContext>();
  const opened = await Promise.allSettled(
    models.map(async (model, i): Promise<TableContext> => {
      const catalog = await ModelCatalog.open(kv, model, {
        migrations: migrationsOf(model, options.migrations),
        relations: relationTexts(model, models),
        stored: { entry: entries[i] as KvEntryMaybe<CatalogEntry>, readAt },
      });
      const modelLinks = links.get(model.name)!;
      const context = { kv, model, catalog, limits, settings, links: modelLinks, tables };
      return { ...context, transaction: undefined };
    }),
  );
  for (const result of opened) {
    if (result.status === "rejected") throw result.reason;
    tables.set(result.value.model.name, result.value);
  }
  await recordUnguardedCopies(tables);
  for (const context of isReadOnlyKv(kv) ? [] : tables.values()) {
    context.catalog.resolvePending = (index) => resolvePendingIndex(context, index);
  }
  const database = rootDatabase(kv, tables, names, jobs);
  registerDatabase(database, tables);
  return database as Database<M, J>;
}

function migrationsOf(
  model: CompiledModel,
  migrations: readonly RowMigration[] = [],
): readonly RowMigration[] {
  return migrations.filter((migration) => migration.model === model.name);
}

function settingsOf<M extends Models>(
  options: Omit<DatabaseOptions<M>, "jobs" | "hooks"> & { readonly hooks?: object | undefined },
  names: ReadonlyMap<string, string>,
  jobs: CompiledJobs | undefined,
): DatabaseSettings {
  const { maxReads = Number.POSITIVE_INFINITY, validateReads = false, onQuery } = options;
  assertMaxReads("", maxReads);
  // Hooks are typed for their model. The code that calls them passes rows that the model's schema
  // has produced.
  const hooksByName = (options.hooks ?? {}) as Readonly<Record<string, AnyHooks | undefined>>;
  const hooks: Record<string, AnyHooks> = Object.create(null);
  for (const [modelName, name] of names) {
    const modelHooks = hooksByName[name];
    if (modelHooks !== undefined) hooks[modelName] = modelHooks;
  }
  const databaseWithin: DatabaseSettings["databaseWithin"] = (tables) =>
    databaseOf(
      tables as ReadonlyMap<string, TableContext>,
      names,
      jobs && { jobs: jobQueues(tables as ReadonlyMap<string, TableContext>, jobs) },
    );
  const { middleware = [] } = options;
  return {
    maxReads,
    validateReads,
    onQuery,
    jobTracing: options.jobTracing,
    hooks,
    databaseWithin,
    middleware: composed(typeof middleware === "function" ? [middleware] : middleware),
  };
}
