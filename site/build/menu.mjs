import { readFileSync } from "node:fs";
import { join } from "node:path";
import { comparisons } from "../compare/comparisons.mjs";
import { apiMenu } from "./entry-points.mjs";
import { headOf } from "./markdown.mjs";
import { pagesOf, root, siteFile } from "./page-list.mjs";
import { sections } from "./sections.mjs";

/** The menu of the site. */
export function menu() {
  return [
    {
      text: "Overview",
      items: [
        { text: "Thirty lines", link: "/" },
        { text: "Playground", link: "/playground" },
        { text: "Scorecard", link: "/scorecard" },
        { text: "Compared with others", link: "/compare/" },
        ...comparisons.map(({ title, file }) => ({ text: title, link: `/compare/${file}` })),
      ],
    },
    ...sections
      .filter((section) => pagesOf(section).length > 0)
      .map((section) => ({
        ...(section.isCollapsed ? folded(section) : { text: section.title }),
        items: pagesOf(section).map((source) => ({
          text: titleOf(source),
          link: address(siteFile(source)),
        })),
      })),
    { text: "API", link: "/api/", collapsed: true, items: apiMenu() },
  ];
}

/** A link and a button that unfolds the section. Without the link, both would be one button. */
function folded(section) {
  const [first] = pagesOf(section);
  const link = section.folder === "docs/internals" ? "/internals/" : address(siteFile(first));
  return { text: section.title, link, collapsed: true };
}

function titleOf(source) {
  return headOf(readFileSync(join(root, source), "utf8")).title;
}

/** `migrations/index.md` → `/migrations/` */
function address(file) {
  return `/${file.replace(/\.md$/, "").replace(/(^|\/)index$/, "$1")}`;
}
