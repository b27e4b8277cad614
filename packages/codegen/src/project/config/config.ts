import type { KvEntry, KvLike } from "@keywright/core";
import type { Model, RowMigration } from "@keywright/orm";
import type { AdoptedFrom, SourceKv, SourceLayout } from "@keywright/orm/adopt";

/** The settings of the `keywright` command. Paths are relative to the configuration file. */
export interface Config {
  /** Files or patterns that export the models: `src/models/*.ts`. A `!` at the start excludes. */
  readonly models: string | readonly string[];
  /** The folder of the generated files. Other files in it are not changed. */
  readonly output: string;
  /**
   * The extension with which generated files import the project's TypeScript modules. Use `"ts"`
   * for runtimes that run TypeScript directly, such as Deno. The default is `"js"`, or `"ts"` if
   * `tsconfig.json` sets `allowImportingTsExtensions` or `rewriteRelativeImportExtensions`.
   */
  readonly importExtension?: "js" | "ts";
  /**
   * The database that the commands use: its folder or URL, as in `"data/app"` or
   * `"postgres://db1/app"`, or a function that opens it, as in `() => openKv("data/app")`. The
   * commands close it. Without this setting, only commands that need no database work, such as
   * `generate`.
   */
  readonly database?: string | (() => KvLike | Promise<KvLike>);
  /** The migrations of rows, created by `defineMigration`. `createDatabase` takes the same list. */
  readonly migrations?: readonly RowMigration[];
  /** The data from which `keywright adopt` creates rows. */
  readonly adopt?: AdoptConfig;
  /** The databases of `keywright copy`. */
  readonly copy?: CopyConfig;
  /** The rows that `keywright seed` generates, or a function that creates them. */
  readonly seed?: SeedConfig | SeedConfig["run"];
}

/** The rows that `keywright seed` generates. Models have their names as in generated code. */
export interface SeedConfig {
  /** How many rows of each model, or of the models that it names. `--rows` replaces it. */
  readonly rows?: number | Readonly<Record<string, number>>;
  /**
   * Values of fields by model: `{ users: { role: "member", code: ({ index }) => `C${index}` } }`. A
   * function is called for each row. All other fields get generated values.
   */
  readonly models?: Readonly<Record<string, SeedFields>>;
  /** Called when the rows are created, to create others or to change some. */
  run?(context: SeedRunContext): Promise<void> | void;
}

/** Values of fields, or functions that return them or promises of them. */
export type SeedFields = Readonly<Record<string, SeedField>>;

/** A value of a field, or a function that returns it. */
export type SeedField =
  | ((context: SeedFieldContext) => unknown)
  | (string | number | bigint | boolean | object | null);

/** The argument of a function that fills a field. */
export interface SeedFieldContext {
  /** The instance of `@faker-js/faker` with the seed of the run. */
  // biome-ignore lint/suspicious/noExplicitAny: its types exist only if the package is installed.
  readonly faker: any;
  /** The position of the row among those of its model, from 0. */
  readonly index: number;
  /** The generated fields of the row, in the form in which `create` takes them. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** The argument of `run`. */
export interface SeedRunContext {
  /** The database, as `createDatabase` returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: the configuration does not know its models.
  readonly db: any;
  /** The instance of `@faker-js/faker` with the seed of the run. */
  // biome-ignore lint/suspicious/noExplicitAny: its types exist only if the package is installed.
  readonly faker: any;
  readonly seed: number;
}

/** The databases of `keywright copy`, if its arguments do not name them. */
export interface CopyConfig {
  /** The database to read, as in `database`. Nothing is written to it. */
  readonly from?: string | (() => KvLike | Promise<KvLike>);
  /** The database to write, as in `database`. Default: the project's own database. */
  readonly to?: string | (() => KvLike | Promise<KvLike>);
  /**
   * Returns in how many milliseconds the copy of an entry expires, or undefined if it does not
   * expire, or expires when the source reports it. For Deno KV, which does not report it.
   */
  readonly expireIn?: (entry: KvEntry<unknown>) => number | undefined;
}

/** Data that was not written with Keywright, and the models whose rows it becomes. */
export interface AdoptConfig {
  /**
   * The database to read, as in `database`. Nothing is written to it. Default: the project's own
   * database.
   */
  readonly from?: string | (() => SourceKv | Promise<SourceKv>);
  /**
   * The layout of the data of each model, under the name of its property in the result of
   * `openRepositories`: `{ users: kvdexLayout(…) }`.
   */
  readonly models: Readonly<Record<string, SourceLayout | AdoptedFrom<Model>>>;
}

/**
 * Returns the configuration unchanged. It gives the default export of `keywright.config.ts` its
 * type. The settings are checked when the command loads the file.
 *
 * ```ts
 * export default defineConfig({
 *   models: "src/models/*.ts",
 *   output: "src/db",
 *   database: () => openKv("data/app"),
 * });
 * ```
 */
export function defineConfig(config: Config): Config {
  return config;
}
