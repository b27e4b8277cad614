// Lets `npm start` and `npm test` work in a fresh clone: runs `npm ci` unless everything that
// package-lock.json lists is installed. Uses no packages, because none may be installed yet.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lockFile = `${root}package-lock.json`;
// npm writes this list of installed packages as the last step of a successful install.
const installedFile = `${root}node_modules/.package-lock.json`;

if (!isInstalled()) process.exit(install());

/** Compares contents and not times, because a clone or a checkout gives every file a new time. */
function isInstalled() {
  const wanted = readPackages(lockFile);
  const installed = readPackages(installedFile);
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([path, { version, integrity, link, optional }]) => {
    if (path === "") return true; // the root, which npm does not list as installed
    const found = installed[path];
    if (found === undefined) return optional === true; // a binary for another platform
    const same = integrity === undefined || found.integrity === integrity;
    return same && found.version === version && found.link === link && existsSync(root + path);
  });
}

/** Returns the packages of a lock file by path, or undefined if the file is absent or damaged. */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function install() {
  console.log("Installing dependencies with npm ci. This may take some minutes.");
  // Deleted first: an npm ci that is stopped half-way may leave this list.
  rmSync(installedFile, { force: true });
  // The tools are devDependencies. They are needed with NODE_ENV=production too.
  const options = ["ci", "--include=dev", "--include=optional", "--loglevel=error"];
  // In an npm script, this is the npm that runs it. Unlike npm.cmd on Windows, it needs no shell.
  // biome-ignore lint/suspicious/noUndeclaredEnvVars: runs before Turborepo, not in it.
  const npm = process.env.npm_execpath;
  const { status, error } = npm?.endsWith("npm-cli.js")
    ? spawnSync(process.execPath, [npm, ...options], { cwd: root, stdio: "inherit" })
    : spawnSync(`npm ${options.join(" ")}`, { cwd: root, stdio: "inherit", shell: true });
  if (error) console.error(`npm ci could not be started: ${error.message}`);
  return status ?? 1;
}
