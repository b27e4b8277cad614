// `npm run site`: builds the site into .vitepress/dist.
import { fileURLToPath } from "node:url";
import { build } from "vitepress";
import { writeApiPages } from "./api-pages.mjs";
import { checkBuiltSite } from "./check-built-site.mjs";
import { pagesFolder, writeSitePages } from "./site-pages.mjs";
import { writeTextVersions } from "./text-versions.mjs";

const folder = fileURLToPath(new URL("../", import.meta.url));
const built = fileURLToPath(new URL("../.vitepress/dist/", import.meta.url));

writeSitePages();
await writeApiPages(pagesFolder);
await build(folder);
writeTextVersions(pagesFolder, built);
const { pages, links, broken } = checkBuiltSite(built);
for (const line of broken) console.error(line);
console.log(`${pages} pages, ${links} links, ${broken.length} broken: ${built}`);
process.exitCode = broken.length === 0 ? 0 : 1;
