import { importExtensionOf, tsconfigsIn } from "../project/config/read-tsconfig.js";
import type { ImportExtension } from "../project/files/paths.js";

/**
 * Returns the extension with which the files in a folder import TypeScript modules: `ts` if the
 * project's `tsconfig.json` allows it, otherwise `js`.
 *
 * @param modulePath the path of one of the imported modules. If there are several `tsconfig.json`
 * files, the one that applies to this module is read.
 */
export async function importExtensionIn(
  folder: string,
  modulePath?: string,
): Promise<ImportExtension> {
  const { default: compiler } = await import("typescript");
  return importExtensionOf(tsconfigsIn(compiler, folder).of(modulePath));
}
