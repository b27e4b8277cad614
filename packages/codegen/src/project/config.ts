import type { KvLike } from "@keywright/core";
import type { AdoptedFrom, Model, RowMigration, SourceKv, SourceLayout } from "@keywright/orm";

/** What the `keywright` command has to know of a project. Paths are relative to the configuration file. */
export interface Config {
  /**
   * The modules that export the models: files or patterns such as `src/models/*.ts`. A pattern that begins with `!`
   * leaves files out.
   */
  readonly models: string | readonly string[];
  /** The folder of the generated files. Other files in it are left alone. */
  readonly output: string;
  /**
   * The extension by which generated files import the project's TypeScript: `"ts"` for what runs it as it is, such as Deno. By
   * default it is `"js"`, and `"ts"` where `tsconfig.json` sets `allowImportingTsExtensions` or
   * `rewriteRelativeImportExtensions`.
   */
  readonly importExtension?: "js" | "ts";
  /**
   * Opens the database that the commands work at, such as `() => openKv("data/app")`. They close it. Without it there are the
   * commands that need none, such as `generate`.
   */
  readonly database?: () => KvLike | Promise<KvLike>;
  /** The migrations of rows, made by `defineMigration`: what `createDatabase` takes. */
  readonly migrations?: readonly RowMigration[];
  /** Where `keywright adopt` takes data from. */
  readonly adopt?: AdoptConfig;
}

/** Data that somebody else has written, and the models whose rows it becomes. */
export interface AdoptConfig {
  /** Opens the database that is read; nothing is written there. Without it, it is the project's own. */
  readonly from?: () => SourceKv | Promise<SourceKv>;
  /** By the names of the properties that `openRepositories` returns: `{ users: kvdexLayout(…) }`. */
  readonly models: Readonly<Record<string, SourceLayout | AdoptedFrom<Model>>>;
}

/**
 * The configuration that `keywright.config.ts` exports as default. It is checked when it is loaded.
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
