import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { done } from "./run.mjs";

/** The folder where the tools of a release are installed. Git ignores it. */
const folder = fileURLToPath(new URL("../../.release", import.meta.url));

/** The tools by the names of their folders: version, package, program, and its arguments. */
const tools = {
  // The last version line that runs on Node.js 20.
  verdaccio: tool("verdaccio", "6.7.4", "bin/verdaccio"),
  npm10: tool("npm", "10.9.9", "bin/npm-cli.js"),
  npm11: tool("npm", "11.19.1", "bin/npm-cli.js"),
  npm12: tool("npm", "12.2.2", "bin/npm-cli.js"),
  pnpm: tool("pnpm", "10.34.9", "bin/pnpm.cjs"),
  yarn1: tool("yarn", "1.22.22", "bin/yarn.js"),
  yarn4: tool("@yarnpkg/cli-dist", "4.18.1", "bin/yarn.js"),
};

function tool(name, version, script) {
  return { name, version, script };
}

export const versionOf = (name) => tools[name].version;

/** Installs a tool if it is missing. Returns the path of its script, which Node.js runs. */
export async function installTool(key) {
  const { name, version, script } = tools[key];
  const own = join(folder, key);
  const installed = join(own, "node_modules", name);
  if (isInstalled(installed, version)) return join(installed, script);
  mkdirSync(own, { recursive: true });
  // Verdaccio asks for a tag of node-fetch that not every registry has.
  const manifest = { private: true, overrides: { "node-fetch": "2.7.0" } };
  writeFileSync(join(own, "package.json"), `${JSON.stringify(manifest)}\n`);
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await done("npm", ["install", ...quiet, `${name}@${version}`], { cwd: own });
  return join(installed, script);
}

function isInstalled(installed, version) {
  const file = join(installed, "package.json");
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === version;
}
