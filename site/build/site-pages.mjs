import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { comparisonPages } from "../compare/pages.mjs";
import { playgroundPage } from "../playground/page.mjs";
import { scorecardPage } from "../scorecard/page.mjs";
import { copyPages, writePage } from "./copy-pages.mjs";
import { homePage } from "./home-page.mjs";
import { repositoryAddress } from "./repository.mjs";

/** The folder from which VitePress builds. Git ignores it. */
export const pagesFolder = fileURLToPath(new URL("../generated/", import.meta.url));

/** Writes all pages but those of the API. */
export function writeSitePages(folder = pagesFolder) {
  rmSync(folder, { recursive: true, force: true });
  const repository = repositoryAddress();
  copyPages(folder, repository);
  writePage(folder, "index.md", homePage(repository), { aside: false });
  writePage(folder, "playground.md", playgroundPage(), {
    aside: false,
    // A bar with the outline appears only when scripts run, and would move the page on a phone.
    outline: false,
    sidebar: false,
    pageClass: "playground-page",
  });
  // Their tables need the whole width.
  const isWide = { aside: false };
  writePage(folder, "scorecard.md", scorecardPage(), isWide);
  for (const [file, text] of comparisonPages())
    writePage(folder, file, text, file === "compare/index.md" ? isWide : {});
}
