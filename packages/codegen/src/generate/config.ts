/** Which models code is generated for, and where to. Paths are relative to the configuration file. */
export interface Config {
  /**
   * The modules that export the models: files or patterns such as `src/models/*.ts`. A pattern that begins with `!`
   * leaves files out.
   */
  readonly models: string | readonly string[];
  /** The folder of the generated files. Other files in it are left alone. */
  readonly output: string;
}

/**
 * The configuration that `keywright.config.ts` exports as default. It is checked when it is loaded.
 *
 * ```ts
 * export default defineConfig({ models: "src/models/*.ts", output: "src/db" });
 * ```
 */
export function defineConfig(config: Config): Config {
  return config;
}
