import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./page-list.mjs";

/**
 * The entry points of all packages: the name with which programs import each, its source, and the
 * folder of its pages.
 *
 * ```text
 * @keywright/core/testing, packages/core/src/testing/index.ts, core/testing
 * ```
 */
export function entryPoints() {
  return readdirSync(join(root, "packages")).flatMap((folder) => {
    const file = join(root, "packages", folder, "package.json");
    if (!existsSync(file)) return [];
    const { name, exports } = JSON.parse(readFileSync(file, "utf8"));
    return Object.entries(exports)
      .filter(([, target]) => target.types !== undefined)
      .map(([path, { types }]) => ({
        name: `${name}${path.slice(1)}`,
        source: join(dirname(file), types.replace("/dist/", "/src/").replace(/\.d\.ts$/, ".ts")),
        folder: `${name}${path.slice(1)}`.replace("@keywright/", "").replaceAll("/", "-"),
      }));
  });
}

/** The entries of the menu for the pages of the API. */
export function apiMenu() {
  return entryPoints().map(({ name, folder }) => ({ text: name, link: `/api/${folder}/` }));
}
