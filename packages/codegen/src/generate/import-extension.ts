import type { ImportExtension } from "../project/paths.js";
import { tsconfigsFor } from "../project/read-tsconfig.js";

/**
 * How the files in a folder import TypeScript: by `.ts` where the project's `tsconfig.json` allows for that, else by `.js`.
 *
 * @param modulePath one of the modules that they are made of, which says what is in force where there are several.
 */
export async function importExtensionIn(
  folder: string,
  modulePath?: string,
): Promise<ImportExtension> {
  const { default: compiler } = await import("typescript");
  const { options } = tsconfigsFor(compiler, folder)(modulePath);
  const { allowImportingTsExtensions, rewriteRelativeImportExtensions } = options;
  return [allowImportingTsExtensions, rewriteRelativeImportExtensions].includes(true) ? "ts" : "js";
}
