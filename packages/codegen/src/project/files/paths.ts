import { relative } from "node:path";

/** Returns a path with forward slashes, which all systems accept. */
export function posix(path: string): string {
  return path.replaceAll("\\", "/");
}

/** Returns the path from a folder to a file in generated code: `../models/city.ts`. */
export function relativePath(folder: string, file: string): string {
  const path = posix(relative(folder, file));
  return path.startsWith(".") ? path : `./${path}`;
}

/** The extension with which generated files import TypeScript modules. */
export type ImportExtension = "js" | "ts";

/** Returns the specifier with which a file in a folder imports a module. */
export function importSpecifier(
  folder: string,
  modulePath: string,
  extension: ImportExtension = "js",
): string {
  const path = relativePath(folder, modulePath);
  if (extension === "ts") return path;
  return path.replace(/\.[jt]sx?$/, ".js").replace(/\.(m|c)ts$/, ".$1js");
}

/**
 * Returns the specifier with which a generated file imports another one.
 *
 * @param file the name of the other file, without its extension.
 */
export function generatedSpecifier(file: string, extension: ImportExtension = "js"): string {
  return `./${file}.${extension}`;
}
