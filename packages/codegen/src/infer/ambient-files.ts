import { dirname } from "node:path";
import type { Compiler, Tsconfig } from "../project/read-tsconfig.js";

/**
 * Returns the files of a `tsconfig.json` that may declare types for all other files: declaration
 * files, and modules with a `declare global`.
 */
export function ambientFiles(compiler: Compiler, { path }: Tsconfig): string[] {
  if (path === undefined) return [];
  const config: unknown = compiler.readConfigFile(path, compiler.sys.readFile).config ?? {};
  const { fileNames } = compiler.parseJsonConfigFileContent(
    config,
    compiler.sys,
    dirname(path),
    undefined,
    path,
  );
  return fileNames.filter(
    (name) =>
      /\.d\.(?:\w+\.)?[cm]?ts$/.test(name) ||
      /\bdeclare\s+global\b/.test(compiler.sys.readFile(name) ?? ""),
  );
}
