import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { comparisons } from "../compare/comparisons.mjs";
import { textOfPlayground } from "../playground/page.mjs";
import { entryPoints } from "./entry-points.mjs";
import { pagesOf, siteFile } from "./page-list.mjs";
import { sections } from "./sections.mjs";
import { filesIn } from "./written-files.mjs";

/**
 * Writes each page as Markdown next to its HTML, `llms.txt` with a list of all pages, and
 * `llms-full.txt` with the text of all pages but those of the API.
 */
export function writeTextVersions(pagesFolder, built) {
  const pages = new Map();
  for (const file of filesIn(pagesFolder).filter((name) => name.endsWith(".md"))) {
    const page = readPage(join(pagesFolder, file));
    pages.set(file, page);
    mkdirSync(dirname(join(built, file)), { recursive: true });
    writeFileSync(join(built, file), page.text);
  }
  for (const assets of ["plots", "studio"])
    cpSync(join(pagesFolder, assets), join(built, assets), { recursive: true });
  const parts = [
    [
      "Overview",
      [
        "index.md",
        "playground.md",
        "scorecard.md",
        "compare/index.md",
        ...comparisons.map(({ file }) => `compare/${file}.md`),
      ],
    ],
    ...sections
      .map((section) => [section.title, pagesOf(section).map(siteFile)])
      .filter(([, files]) => files.length > 0),
  ];
  const api = entryPoints().map(({ folder }) => `api/${folder}/index.md`);
  const list = [...parts, ["API", api]].map(([title, files]) => {
    const lines = files.map(
      (file) => `- [${pages.get(file).title}](/${file}): ${pages.get(file).description}`,
    );
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  const home = pages.get("index.md");
  writeFileSync(
    join(built, "llms.txt"),
    `# Keywright\n\n> ${home.description}\n\n${list.join("\n")}`,
  );
  const texts = parts
    .flatMap(([, files]) => files)
    .map((file) => `<!-- /${file} -->\n\n${pages.get(file).text}`);
  writeFileSync(join(built, "llms-full.txt"), texts.join("\n\n"));
}

/** Separates a page from the line of JSON in front of it. */
function readPage(file) {
  const [, front, text] = /^---\n(.*)\n---\n\n([\s\S]*)$/.exec(readFileSync(file, "utf8"));
  return { ...JSON.parse(front), text: textOfPlayground(text) };
}
