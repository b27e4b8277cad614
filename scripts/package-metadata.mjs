// The root's package.json is the one place for author, repository, homepage and bugs, for the
// license and for the versions of Node.js. `npm run metadata:update` writes them into the packages,
// and the tests of `docs` fail until it has run.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What must be in the manifest of a package, in this order, after its description. */
export function metadataOf(folder) {
  const { author, repository, bugs, license, engines } = readManifest("package.json");
  const page = repository.url.replace(/^git\+|\.git$/g, "");
  return {
    homepage: `${page}/tree/main/${folder}#readme`,
    bugs,
    repository: { ...repository, directory: folder },
    license,
    author,
    sideEffects: false,
    engines,
  };
}

/** The folders of all packages that are published, such as `packages/core`. */
export const packageFolders = readdirSync(`${root}packages`).map((name) => `packages/${name}`);

export function readManifest(path) {
  return JSON.parse(readFileSync(`${root}${path}`, "utf8"));
}

/** Returns the text of a package's manifest with the metadata of the root. */
export function withMetadata(folder) {
  const { name, version, description, keywords, ...rest } = readManifest(`${folder}/package.json`);
  const metadata = metadataOf(folder);
  for (const field of Object.keys(metadata)) delete rest[field];
  const { type, ...others } = rest;
  const { sideEffects, engines, ...origin } = metadata;
  const manifest = { name, version, description, keywords, ...origin };
  return `${JSON.stringify({ ...manifest, type, sideEffects, engines, ...others }, null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const folder of packageFolders) {
    writeFileSync(`${root}${folder}/package.json`, withMetadata(folder));
  }
}
