import type { KvLike } from "@keywright/core";
import { type AnyDatabase, assertDistinctPrefixes, createDatabase } from "@keywright/orm";
import { DatabaseOpenError, DatabaseUnsetError } from "../errors/codegen-errors.js";
import { findModels } from "../generate/find-models.js";
import { type LoadedConfig, loadConfig } from "../generate/load-config.js";
import { placeOf } from "../generate/load-module.js";
import { type NamedModel, nameModels } from "../generate/model-names.js";

/** A project with its models. */
export interface Project {
  readonly config: LoadedConfig;
  /** In the order of the models' names. */
  readonly models: readonly NamedModel[];
}

/** A project's database, opened with its models and migrations. */
export interface OpenProject extends Project {
  readonly kv: KvLike;
  /** What `migrate` and the others take. Its repositories have the names that the generated ones have. */
  readonly database: AnyDatabase;
}

/**
 * Loads a project's configuration and models.
 *
 * @param folder in which the configuration is looked for, or to which `file` is relative.
 * @throws {CodegenError} for what is wrong with them.
 */
export async function loadProject(folder: string, file?: string): Promise<Project> {
  const config = await loadConfig(folder, file);
  const models = nameModels(await findModels(config));
  assertDistinctPrefixes(models.map(({ model }) => model));
  return { config, models };
}

/**
 * Opens the database of a project with its models, lends it, and closes it whatever happens.
 *
 * @throws {DatabaseUnsetError} where the configuration names none.
 * @throws {DatabaseOpenError} where the configuration's function cannot open it.
 * @throws what `createDatabase` throws, and what `use` does.
 */
export async function withProject<T>(
  folder: string,
  file: string | undefined,
  use: (project: OpenProject) => Promise<T>,
): Promise<T> {
  const project = await loadProject(folder, file);
  const { config, models } = project;
  return await withKv(config, async (kv) => {
    const database = await createDatabase({
      kv,
      models: Object.fromEntries(
        models.map(({ names, definition }) => [names.property, definition]),
      ),
      ...(config.migrations !== undefined && { migrations: config.migrations }),
    });
    return await use({ ...project, kv, database });
  });
}

/**
 * Opens the database of a configuration, lends it, and closes it whatever happens.
 *
 * @throws {DatabaseUnsetError} where the configuration names none.
 * @throws {DatabaseOpenError} where the configuration's function cannot open it.
 */
export async function withKv<T>(config: LoadedConfig, use: (kv: KvLike) => Promise<T>): Promise<T> {
  const { path, database } = config;
  if (database === undefined) throw new DatabaseUnsetError(path, "database");
  const kv = await openedBy(path, "database", database);
  try {
    return await use(kv);
  } finally {
    await kv.close();
  }
}

/**
 * Calls a function of the configuration's that opens a database. An error of Keywright's own is thrown as it is: that another
 * process has the database open is no fault of the function.
 *
 * @param at the setting, as in `adopt.from`.
 * @throws {DatabaseOpenError} for what else it throws, and where it returns no database.
 */
export async function openedBy<K extends object>(
  path: string,
  at: string,
  open: () => K | Promise<K>,
): Promise<K> {
  let kv: unknown;
  try {
    kv = await open();
  } catch (error) {
    if (isKeywrightError(error)) throw error;
    throw new DatabaseOpenError(path, placeOf(error) ?? at, error);
  }
  if (isDatabase(kv)) return kv as K;
  throw new DatabaseOpenError(
    path,
    at,
    new TypeError("It returned something else than a database."),
  );
}

function isKeywrightError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && code.startsWith("KW_");
}

function isDatabase(value: unknown): boolean {
  return typeof value === "object" && value !== null && "get" in value && "list" in value;
}
