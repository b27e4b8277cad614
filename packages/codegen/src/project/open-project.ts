import { type EmbeddedKv, type KvLike, openKv } from "@keywright/core";
import { type AnyDatabase, createDatabase } from "@keywright/orm";
import type { SourceKv } from "@keywright/orm/adopt";
import { assertDistinctPrefixes } from "@keywright/orm/codegen";
import { DatabaseOpenError, DatabaseUnsetError } from "../errors/codegen-errors.js";
import { type LoadedConfig, loadConfig } from "./config/load-config.js";
import { errorPlace } from "./config/load-module.js";
import { withoutNewDatabases } from "./config/without-new-databases.js";
import { findModels } from "./models/find-models.js";
import { type NamedModel, nameModels } from "./models/model-names.js";
import { openPath } from "./open-path.js";

export interface Project {
  readonly config: LoadedConfig;
  /** Sorted by model name. */
  readonly models: readonly NamedModel[];
}

/** A project's database, opened with its models and migrations. */
export interface OpenProject extends Project {
  readonly kv: KvLike;
  /** Its repositories have the same names as the generated ones. */
  readonly database: AnyDatabase;
}

/**
 * The behavior of a command if there is no database. With `"fail"` it fails, because a new database
 * would contain nothing to report. With `"create"` it creates a database. With `"empty"` it uses an
 * empty database in memory instead.
 */
export type MissingDatabasePolicy = "fail" | "create" | "empty";

/**
 * Loads a project's configuration and models.
 *
 * @param folder the folder that contains the configuration, or that `file` is relative to.
 */
export async function loadProject(
  folder: string,
  file: string | undefined,
  ifMissing: MissingDatabasePolicy = "fail",
): Promise<Project> {
  const config = await loadDatabaseConfig(folder, file, ifMissing);
  const models = nameModels(await findModels(config));
  assertDistinctPrefixes(models.map(({ model }) => model));
  return { config, models };
}

/** `ifMissing` also applies to a database that opens while the configuration is loaded. */
export async function loadDatabaseConfig(
  folder: string,
  file: string | undefined,
  ifMissing: MissingDatabasePolicy = "fail",
): Promise<LoadedConfig> {
  return await runWithPolicy(ifMissing, () => loadConfig(folder, file));
}

async function runWithPolicy<T>(
  ifMissing: MissingDatabasePolicy,
  run: () => Promise<T>,
): Promise<T> {
  return await (ifMissing === "create" ? run() : withoutNewDatabases(run));
}

/**
 * Opens the database of a project with its models, passes it to `use`, and always closes it
 * afterwards.
 * Throws the errors of {@link withKv}, of `createDatabase` and of `use`.
 */
export async function withProject<T>(
  folder: string,
  file: string | undefined,
  use: (project: OpenProject) => Promise<T>,
  ifMissing?: MissingDatabasePolicy,
  options: OpenModelsOptions = {},
): Promise<T> {
  const project = await loadProject(folder, file, ifMissing);
  return await withKv(
    project.config,
    async (kv) => await use({ ...project, kv, database: await openModels(project, kv, options) }),
    ifMissing,
  );
}

/** The same for a command that only reads. It does not even register new models. */
export async function withReadProject<T>(
  folder: string,
  file: string | undefined,
  use: (project: OpenProject) => Promise<T>,
): Promise<T> {
  return await withProject(folder, file, use, "fail", { readOnly: true });
}

interface OpenModelsOptions {
  readonly readOnly?: boolean;
}

/** Opens a project's models on a database, which registers new models unless it is `readOnly`. */
export async function openModels(
  { config, models }: Project,
  kv: KvLike,
  { readOnly = false }: OpenModelsOptions = {},
): Promise<AnyDatabase> {
  return await createDatabase({
    kv,
    readOnly,
    models: Object.fromEntries(models.map(({ names, definition }) => [names.property, definition])),
    ...(config.migrations !== undefined && { migrations: config.migrations }),
  });
}

/** Opens the database of a configuration, passes it to `use`, and always closes it afterwards. */
export async function withKv<T>(
  config: LoadedConfig,
  use: (kv: KvLike) => Promise<T>,
  ifMissing: MissingDatabasePolicy = "fail",
): Promise<T> {
  const { path, database } = config;
  if (database === undefined) throw new DatabaseUnsetError({ path, at: "database" });
  const kv = await runWithPolicy(ifMissing, () =>
    callOpenFunction(path, "database", database, kvMethods).catch((error: unknown) => {
      if (ifMissing === "empty" && codeOf(error) === "KW_DATABASE_NOT_FOUND") return openKv();
      throw error;
    }),
  );
  try {
    const { attached } = kv as Partial<EmbeddedKv>;
    if (attached !== undefined)
      console.error(`Attached to process ${attached.pid}, which has the database open.`);
    return await use(kv);
  } finally {
    await kv.close();
  }
}

/** Opens a database, passes it to `use`, and always closes it afterwards. Creates none. */
export async function withExisting<T>(
  open: () => Promise<KvLike>,
  use: (kv: KvLike) => Promise<T>,
): Promise<T> {
  const kv = await withoutNewDatabases(open);
  try {
    return await use(kv);
  } finally {
    await kv.close();
  }
}

/** Opens the database of `adopt.from`, and creates none if it does not exist. */
export async function openSource(
  { path, folder }: LoadedConfig,
  from: string | (() => SourceKv | Promise<SourceKv>),
): Promise<SourceKv> {
  const open = typeof from === "string" ? () => openPath(folder, from) : from;
  return await withoutNewDatabases(() => callOpenFunction(path, "adopt.from", open, sourceMethods));
}

const sourceMethods: readonly (keyof SourceKv)[] = ["get", "getMany", "list"];

/** The methods that distinguish a database from other values, or that every command calls. */
const kvMethods: readonly (keyof KvLike)[] = [...sourceMethods, "atomic", "close"];

/**
 * Calls a function of the configuration that opens a database. Keywright's own errors are thrown
 * unchanged, because they are not faults of the function: for example, another process has the
 * database open.
 *
 * @param at the name of the setting, such as `adopt.from`.
 * @param methods the methods that the returned database must have.
 */
export async function callOpenFunction<K extends object>(
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
    throw new DatabaseOpenError({ path, at: errorPlace(error) ?? at }, error);
  }
  const missing = methods.filter((method) => typeof kv?.[method] !== "function");
  if (missing.length === 0) return kv;
  const reason = `It did not return a database: ${missing.length === 1 ? "the method" : "the methods"} ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing.`;
  throw new DatabaseOpenError({ path, at }, new TypeError(reason));
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
