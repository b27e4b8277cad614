// Installs Prisma with `npm ci` in this folder, if it is missing. It installs no engines, because
// generating a client needs none.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));

if (!isInstalled()) {
  console.log("Installing Prisma.");
  // Inside an npm script, this is the npm that runs it.
  const npm = process.env.npm_execpath;
  const options = ["ci", "--ignore-scripts", "--loglevel=error", "--no-audit", "--no-fund"];
  const { status, error } = npm?.endsWith("npm-cli.js")
    ? spawnSync(process.execPath, [npm, ...options], { cwd: folder, stdio: "inherit" })
    : spawnSync(`npm ${options.join(" ")}`, { cwd: folder, stdio: "inherit", shell: true });
  if (error) console.error(`npm ci could not be started: ${error.message}`);
  process.exitCode = status ?? 1;
}

/** In the versions that package.json names. */
function isInstalled() {
  try {
    const { dependencies } = readJson("package.json");
    return Object.entries(dependencies).every(
      ([name, version]) => readJson(`node_modules/${name}/package.json`).version === version,
    );
  } catch {
    return false;
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(`${folder}${file}`, "utf8"));
}
