import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";
import { pages, proseOf, root } from "./pages.js";

/** The names by which links find the headings of a page, as GitHub makes them. */
function anchorsOf(file: string): string[] {
  return [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each(pages)("the links of %s lead to files and headings that exist", (page) => {
  const links = [...proseOf(join(root, page)).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.filter(([, path = "", anchor]) => {
    const file = path === "" ? join(root, page) : join(root, dirname(page), path);
    if (relative(root, file).startsWith("..") || !existsSync(file)) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});
