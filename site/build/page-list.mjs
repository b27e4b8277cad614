import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sections } from "./sections.mjs";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Returns the file of the site that a page of the repository becomes.
 *
 * ```text
 * docs/models.md            → models.md
 * docs/migrations/README.md → migrations/index.md
 * packages/lmdb/README.md   → packages/lmdb.md
 * SECURITY.md               → security-policy.md, because docs/security.md is another page
 * ```
 */
export function siteFile(source) {
  if (source === "README.md") return "index.md";
  if (source === "SECURITY.md") return "security-policy.md";
  const inPackages = /^packages\/(\w+)\/README\.md$/.exec(source);
  if (inPackages !== null) return `packages/${inPackages[1]}.md`;
  const file = source.startsWith("docs/") ? source.slice("docs/".length) : source.toLowerCase();
  return file.replace(/(^|\/)README\.md$/, "$1index.md");
}

/** Returns the pages of a section: those that it lists, those of its folder, or all others. */
export function pagesOf({ pages, folder, isRest }) {
  if (pages !== undefined) return pages;
  if (isRest) return otherPages();
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(".md"));
  // The page about the folder comes first.
  const first = names.filter((name) => name === "README.md");
  const others = names.filter((name) => name !== "README.md").sort();
  return [...first, ...others].map((name) => `${folder}/${name}`);
}

/** The pages of the folders that no section lists by name, such as new ones. */
function otherPages() {
  const listed = sections.flatMap(({ pages = [] }) => pages);
  const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}`);
  return ["docs", "docs/migrations", "docs/reports", ...packages].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md")
      .map((name) => `${folder}/${name}`)
      .filter((page) => !listed.includes(page)),
  );
}

/** All pages of the repository that become pages of the site. */
export const sources = sections.flatMap(pagesOf);

/** Returns true if a page of the repository leads to a folder or file that exists. */
export function existsInRepository(path) {
  return existsSync(join(root, path));
}
