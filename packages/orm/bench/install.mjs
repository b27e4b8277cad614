// Installs the packages of the benchmark with `npm ci` in this folder, if they are missing. If npm
// cannot download the binary of better-sqlite3 from GitHub, it compiles it, which takes some
// minutes and needs a compiler.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadPeers } from "./peers.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));

if (!isInstalled()) {
  console.log("Installing drizzle-orm and better-sqlite3, which may have to be compiled.");
  // Inside an npm script, this is the npm that runs it.
  const npm = process.env.npm_execpath;
  const options = ["ci", "--loglevel=error", "--no-audit", "--no-fund"];
  const { status, error } = npm?.endsWith("npm-cli.js")
    ? spawnSync(process.execPath, [npm, ...options], { cwd: folder, stdio: "inherit" })
    : spawnSync(`npm ${options.join(" ")}`, { cwd: folder, stdio: "inherit", shell: true });
  if (error) console.error(`npm ci could not be started: ${error.message}`);
  process.exitCode = status ?? 1;
}

/** In the versions that package.json names, and so that they can be loaded. */
function isInstalled() {
  try {
    const { dependencies } = readJson("package.json");
    for (const [name, version] of Object.entries(dependencies))
      if (readJson(`node_modules/${name}/package.json`).version !== version) return false;
    loadPeers();
    return true;
  } catch {
    return false;
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(`${folder}${file}`, "utf8"));
}
