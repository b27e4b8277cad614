import { type KvLike, openKv } from "@keywright/core";
import {
  type AnyDatabase,
  assertDistinctPrefixes,
  createDatabase,
  type SourceKv,
} from "@keywright/orm";
import { DatabaseOpenError, DatabaseUnsetError } from "../errors/codegen-errors.js";
import { findModels } from "./find-models.js";
import { type LoadedConfig, loadConfig } from "./load-config.js";
import { placeOf } from "./load-module.js";
import { type NamedModel, nameModels } from "./model-names.js";
import { withoutNewDatabases } from "./without-new-databases.js";

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
 * What becomes of a command where there is no database: it fails, for a new one would have nothing to tell of; one is made;
 * or an empty one in memory stands for it.
 */
export type IfMissing = "fail" | "create" | "empty";

/**
 * Loads a project's configuration and models.
 *
 * @param folder in which the configuration is looked for, or to which `file` is relative.
 * @throws {CodegenError} for what is wrong with them.
 */
export async function loadProject(
  folder: string,
  file: string | undefined,
  ifMissing: IfMissing = "fail",
): Promise<Project> {
  const config = await loadDatabaseConfig(folder, file, ifMissing);
  const models = nameModels(await findModels(config));
  assertDistinctPrefixes(models.map(({ model }) => model));
  return { config, models };
}

/** Loads the configuration of a command that opens its database, which the configuration may do while it is loaded. */
export async function loadDatabaseConfig(
  folder: string,
  file: string | undefined,
  ifMissing: IfMissing = "fail",
): Promise<LoadedConfig> {
  return await opening(ifMissing, () => loadConfig(folder, file));
}

async function opening<T>(ifMissing: IfMissing, run: () => Promise<T>): Promise<T> {
  return await (ifMissing === "create" ? run() : withoutNewDatabases(run));
}

/**
 * Opens the database of a project with its models, lends it, and closes it whatever happens.
 *
 * @throws {DatabaseUnsetError} where the configuration names none.
 * @throws {DatabaseOpenError} where the configuration's function cannot open it.
 * @throws {DatabaseNotFoundError} where there is none, and none is to be made.
 * @throws what `createDatabase` throws, and what `use` does.
 */
export async function withProject<T>(
  folder: string,
  file: string | undefined,
  use: (project: OpenProject) => Promise<T>,
  ifMissing?: IfMissing,
): Promise<T> {
  const project = await loadProject(folder, file, ifMissing);
  return await withKv(
    project.config,
    async (kv) => await use({ ...project, kv, database: await openModels(project, kv) }),
    ifMissing,
  );
}

/** Opens a project's models on a database, which enters those that are new to it. Throws what `createDatabase` throws. */
export async function openModels({ config, models }: Project, kv: KvLike): Promise<AnyDatabase> {
  return await createDatabase({
    kv,
    models: Object.fromEntries(models.map(({ names, definition }) => [names.property, definition])),
    ...(config.migrations !== undefined && { migrations: config.migrations }),
  });
}

/**
 * Opens the database of a configuration, lends it, and closes it whatever happens.
 *
 * @throws {DatabaseUnsetError} where the configuration names none.
 * @throws {DatabaseOpenError} where the configuration's function cannot open it.
 * @throws {DatabaseNotFoundError} where there is none, and none is to be made.
 */
export async function withKv<T>(
  config: LoadedConfig,
  use: (kv: KvLike) => Promise<T>,
  ifMissing: IfMissing = "fail",
): Promise<T> {
  const { path, database } = config;
  if (database === undefined) throw new DatabaseUnsetError(path, "database");
  const kv = await opening(ifMissing, () =>
    openedBy(path, "database", database, kvMethods).catch((error: unknown) => {
      if (ifMissing === "empty" && codeOf(error) === "KW_DATABASE_NOT_FOUND") return openKv();
      throw error;
    }),
  );
  try {
    return await use(kv);
  } finally {
    await kv.close();
  }
}

/**
 * Opens the database that a configuration's `adopt.from` says. It is only read, and none is made.
 *
 * @throws {DatabaseOpenError} where the function cannot open it.
 * @throws {DatabaseNotFoundError} where there is none.
 */
export async function openSource(
  path: string,
  from: () => SourceKv | Promise<SourceKv>,
): Promise<SourceKv> {
  return await withoutNewDatabases(() => openedBy(path, "adopt.from", from, sourceMethods));
}

const sourceMethods: readonly (keyof SourceKv)[] = ["get", "getMany", "list"];

/** Those that tell a database from other things, or are called whatever is done with it. */
const kvMethods: readonly (keyof KvLike)[] = [...sourceMethods, "atomic", "close"];

/**
 * Calls a function of the configuration's that opens a database. An error of Keywright's own is thrown as it is: that another
 * process has the database open is no fault of the function.
 *
 * @param at the setting, as in `adopt.from`.
 * @param methods what a database has.
 * @throws {DatabaseOpenError} for what else it throws, and where it returns no database.
 */
async function openedBy<K extends object>(
  path: string,
  at: string,
  open: () => K | Promise<K>,
  methods: readonly (keyof K & string)[],
): Promise<K> {
  let kv: K;
  try {
    kv = await open();
  } catch (error) {
    if (codeOf(error)?.startsWith("KW_") === true) throw error;
    throw new DatabaseOpenError(path, placeOf(error) ?? at, error);
  }
  const missing = methods.filter((method) => typeof kv?.[method] !== "function");
  if (missing.length === 0) return kv;
  const reason = `It returned something else than a database: there is no method ${missing.join(", ")}.`;
  throw new DatabaseOpenError(path, at, new TypeError(reason));
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
