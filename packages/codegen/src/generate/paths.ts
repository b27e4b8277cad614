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

/** The specifier by which a file in a folder imports a module: with the extension that it has when it is built. */
export function importSpecifier(folder: string, modulePath: string): string {
  return relativePath(folder, modulePath)
    .replace(/\.[jt]sx?$/, ".js")
    .replace(/\.(m|c)ts$/, ".$1js");
}
