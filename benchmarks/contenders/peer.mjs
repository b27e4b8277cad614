// Packages that install.mjs installs in the folder `peers`. `require` hides them from tools that
// check imports where they are not installed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export const peer = createRequire(new URL("../peers/package.json", import.meta.url));

/** Returns true if the versions of package.json are installed and can be loaded. */
export function isInstalled() {
  try {
    const { dependencies } = readJson("package.json");
    for (const [name, version] of Object.entries(dependencies))
      if (readJson(`node_modules/${name}/package.json`).version !== version) return false;
    new (peer("better-sqlite3"))(":memory:").close();
    peer("./generated");
    return true;
  } catch {
    return false;
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(new URL(`../peers/${file}`, import.meta.url), "utf8"));
}
