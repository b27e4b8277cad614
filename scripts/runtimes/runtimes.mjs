import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const platform = process.platform === "win32" ? "win" : process.platform;
const end = process.platform === "win32" ? ".exe" : "";

/** The folder where the runtimes are installed. Git ignores it. */
export const folder = fileURLToPath(new URL("../../.runtimes", import.meta.url));

/**
 * The runtimes: the npm package of each, a function that finds its program, and the arguments
 * before a script. `docs/runtimes.md` lists them.
 */
export const runtimes = [
  node("node20", "20.20.2"),
  node("node22", "22.23.3"),
  node("node24", "24.21.0"),
  node("node26", "26.10.0"),
  {
    name: "deno",
    install: "deno@2.9.6",
    findProgram: () => findPlatform("@deno", `deno${end}`),
    args: ["run", "-A", "--unstable-kv"],
  },
  {
    name: "bun",
    install: "bun@1.4.5",
    findProgram: () => findPlatform("@oven", `bin/bun${end}`),
    args: [],
  },
];

/** A version of Node.js that is too old. */
export const oldRuntime = node("node18", "18.20.8");

/**
 * Starts workerd, the runtime of Cloudflare's Workers. Its program is the folder of the package.
 */
export const miniflare = {
  name: "miniflare",
  install: "miniflare@4.20260730.0",
  findProgram: () => existing(join(folder, "node_modules/miniflare")),
};

function node(name, version) {
  return {
    name,
    install: `${name}@npm:node-${platform}-${process.arch}@${version}`,
    findProgram: () => existing(join(folder, "node_modules", name, `bin/node${end}`)),
    args: [],
  };
}

/** Finds a program in the package of a scope that npm has installed for this platform. */
function findPlatform(scope, program) {
  const packages = join(folder, "node_modules", scope);
  if (!existsSync(packages)) return undefined;
  return readdirSync(packages)
    .map((name) => existing(join(packages, name, program)))
    .find((path) => path !== undefined);
}

function existing(path) {
  return existsSync(path) ? path : undefined;
}
