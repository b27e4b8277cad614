// Lets `npm start` and `npm test` work on a fresh clone: runs `npm ci`, unless everything that
// package-lock.json asks for is installed. Needs only Node.js and npm: nothing else is there yet.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lockFile = `${root}package-lock.json`;
// npm lists here what it has installed, as the last step of an install that succeeded.
const installedFile = `${root}node_modules/.package-lock.json`;

if (!isInstalled()) process.exit(install());

/** By content, not by time: a clone or a checkout gives every file a new time. */
function isInstalled() {
  const wanted = readPackages(lockFile);
  const installed = readPackages(installedFile);
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([path, { version, integrity, link, optional }]) => {
    if (path === "") return true; // the workspace itself, which npm doesn't list as installed
    const found = installed[path];
    if (found === undefined) return optional === true; // a binary for another platform
    const same = integrity === undefined || found.integrity === integrity;
    return same && found.version === version && found.link === link && existsSync(root + path);
  });
}

/** The packages in a lock file by path; undefined where the file is absent or broken. */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function install() {
  console.log("Installing dependencies with npm ci.");
  // npm ci deletes node_modules in no certain order: stopped half-way, it must not look finished.
  rmSync(installedFile, { force: true });
  // The tools are devDependencies, and wanted under NODE_ENV=production too.
  const options = ["ci", "--include=dev", "--include=optional", "--loglevel=error"];
  // Inside an npm script, this is the npm that runs it. Node starts it without a shell, which
  // Windows would need for npm.cmd.
  // biome-ignore lint/suspicious/noUndeclaredEnvVars: not a task of Turborepo, but before it.
  const npm = process.env.npm_execpath;
  const { status, error } = npm?.endsWith("npm-cli.js")
    ? spawnSync(process.execPath, [npm, ...options], { cwd: root, stdio: "inherit" })
    : spawnSync(`npm ${options.join(" ")}`, { cwd: root, stdio: "inherit", shell: true });
  if (error) console.error(`npm ci could not be started: ${error.message}`);
  return status ?? 1;
}
