import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { linksOfSite } from "./links.mjs";
import { headOf } from "./markdown.mjs";
import { pagesOf, root, siteFile, sources } from "./page-list.mjs";
import { plotsOfTheme } from "./plots.mjs";
import { sections } from "./sections.mjs";

/** Writes the pages of the repository into the folder from which VitePress builds. */
export function copyPages(folder, repository) {
  for (const source of sources) {
    const text = readFileSync(join(root, source), "utf8");
    writePage(folder, siteFile(source), plotsOfTheme(linksOfSite(text, source, repository)));
  }
  writePage(
    folder,
    "internals/index.md",
    indexOf(sections.find((each) => each.title === "How it works")),
  );
  for (const assets of ["plots", "studio"])
    cpSync(join(root, "docs", assets), join(folder, assets), { recursive: true });
  mkdirSync(join(folder, "public"), { recursive: true });
  cpSync(fileURLToPath(new URL("../icon.svg", import.meta.url)), join(folder, "public/icon.svg"));
}

/** Writes a page with its title and description for search engines and `llms.txt`. */
export function writePage(folder, file, text, settings = {}) {
  const front = JSON.stringify({ ...headOf(text), ...settings });
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `---\n${front}\n---\n\n${text}`);
}

/** A page that lists the pages of a section. */
function indexOf(section) {
  const lines = pagesOf(section).map((source) => {
    const { title, description } = headOf(readFileSync(join(root, source), "utf8"));
    const name = siteFile(source).split("/").at(-1);
    return `- [${title}](./${name}): ${description}`;
  });
  return `# ${section.title}\n\nGuarantees, formats and algorithms, with the tests that hold them.\n\n${lines.join("\n")}\n`;
}
