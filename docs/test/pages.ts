import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}`);

/** The paths of all pages, from the root of the repository. */
export const pages = [
  ".",
  "docs",
  "docs/adr",
  "docs/internals",
  "docs/migrations",
  ...packages,
].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name)),
);

/** Returns the text of a page without its code blocks. */
export function proseOf(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/^ *```.*?^ *```$/gms, "");
}
