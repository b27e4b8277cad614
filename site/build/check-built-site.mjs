import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { filesIn } from "./written-files.mjs";

/**
 * Checks that each link of the built site leads to a page, a file or a heading of it. Links to
 * other sites are not followed.
 */
export function checkBuiltSite(folder) {
  const pages = new Map(
    filesIn(folder)
      .filter((file) => file.endsWith(".html"))
      .map((file) => [file, readFileSync(join(folder, file), "utf8")]),
  );
  const anchors = new Map([...pages].map(([file, html]) => [file, anchorsOf(html)]));
  const broken = [];
  let links = 0;
  for (const [file, html] of pages) {
    for (const [, target] of html.matchAll(
      /<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g,
    )) {
      if (/^(\w+:|\/\/)/.test(target)) continue;
      links++;
      const { path, anchor } = partsOf(target, file);
      const page = [path, `${path}.html`, posix.join(path, "index.html")].find((name) =>
        pages.has(name),
      );
      if (page === undefined && !existsSync(join(folder, path))) broken.push(`${file}: ${target}`);
      else if (anchor !== undefined && page !== undefined && !anchors.get(page).has(anchor))
        broken.push(`${file}: ${target} (no such heading)`);
    }
  }
  return { pages: pages.size, links, broken: [...new Set(broken)].sort() };
}

function partsOf(target, file) {
  const [before, anchor] = target.replaceAll("&amp;", "&").split("#");
  const path = before.split("?")[0];
  if (path === "") return { path: file, anchor: anchorText(anchor) };
  const absolute = path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(file), path);
  return {
    path: decodeURIComponent(absolute).replace(/\/$/, "") || ".",
    anchor: anchorText(anchor),
  };
}

function anchorText(anchor) {
  return anchor === undefined || anchor === "" ? undefined : decodeURIComponent(anchor);
}

function anchorsOf(html) {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id));
}
