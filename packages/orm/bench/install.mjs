// Runs `npm ci` in this folder if drizzle-orm or better-sqlite3 is missing. If npm cannot download
// a binary of better-sqlite3 from GitHub, it compiles it, which takes some minutes and a compiler.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadPeers } from "./peers.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));

if (!isInstalled()) {
  console.log("Installing drizzle-orm and better-sqlite3. Compiling them may take some minutes.");
  // Inside an npm script, this is the npm that runs it.
  const npm = process.env.npm_execpath;
  const options = ["ci", "--loglevel=error", "--no-audit", "--no-fund"];
  const { status, error } = npm?.endsWith("npm-cli.js")
    ? spawnSync(process.execPath, [npm, ...options], { cwd: folder, stdio: "inherit" })
    : spawnSync(`npm ${options.join(" ")}`, { cwd: folder, stdio: "inherit", shell: true });
  if (error) console.error(`npm ci could not be started in ${folder}: ${error.message}`);
  process.exitCode = status ?? 1;
}

/** Returns true if the versions of package.json are installed and can be loaded. */
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
