import { relative } from "node:path";

/** A path with forward slashes, which all systems take and generated files have. */
export function posix(path: string): string {
  return path.replaceAll("\\", "/");
}

/** The way from a folder to a file, as it stands in generated files: `../models/city.ts`. */
export function relativePath(folder: string, file: string): string {
  const path = posix(relative(folder, file));
  return path.startsWith(".") ? path : `./${path}`;
}

/** How generated files import TypeScript: by the extension that a module has when it is built, or by its own. */
export type ImportExtension = "js" | "ts";

/** The specifier by which a file in a folder imports a module. */
export function importSpecifier(
  folder: string,
  modulePath: string,
  extension: ImportExtension = "js",
): string {
  const path = relativePath(folder, modulePath);
  if (extension === "ts") return path;
  return path.replace(/\.[jt]sx?$/, ".js").replace(/\.(m|c)ts$/, ".$1js");
}

/** The specifier by which one generated file imports another one, which is named without its extension. */
export function generatedSpecifier(file: string, extension: ImportExtension = "js"): string {
  return `./${file}.${extension}`;
}
