import { posix } from "node:path";
import { replaceLinks } from "./markdown.mjs";
import { existsInRepository, siteFile, sources } from "./page-list.mjs";

const byTarget = new Map(["README.md", ...sources].map((source) => [source, siteFile(source)]));

/** Folders of the repository that have no page of their own, and the page about them. */
const folderPages = {
  "docs/internals": "internals/index.md",
  "docs/adr": "adr/index.md",
  "site/playground": "playground.md",
};

/**
 * Makes the links of a page of the repository lead to the pages of the site. A link to a file that
 * is no page leads to the repository, or becomes text if the repository has no address yet.
 *
 * @param repository the address under which a browser shows the files of the repository.
 */
export function linksOfSite(text, source, repository) {
  const own = siteFile(source);
  return replaceLinks(text, (target) => {
    const [path, anchor] = target.split("#");
    const found = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, "");
    const end = anchor === undefined ? "" : `#${anchor}`;
    const file = byTarget.get(found) ?? folderPages[found];
    if (file !== undefined) return relativeTo(own, file) + end;
    if (!existsInRepository(found))
      throw new Error(`${source} links to ${target}, which does not exist.`);
    if (/\.(svg|png)$/.test(found)) return relativeTo(own, found.replace(/^docs\//, ""));
    return repository === undefined ? undefined : `${repository}/${found}${end}`;
  });
}

/** Always begins with a dot, because Vite reads a bare name as the name of a package. */
function relativeTo(own, file) {
  const relative = posix.relative(posix.dirname(own), file);
  return relative.startsWith(".") ? relative : `./${relative}`;
}
