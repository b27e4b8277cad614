// Packs the packages as they would be published and installs them in a folder: `node
// install-packed.mjs FOLDER`.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../..", import.meta.url));
const folder = resolve(process.argv[2]);
mkdirSync(folder, { recursive: true });
// As `npm install` creates it in an empty folder: without a type.
writeFileSync(join(folder, "package.json"), "{}\n");

const { version: zod } = JSON.parse(
  readFileSync(join(packages, "../node_modules/zod/package.json"), "utf8"),
);
// Not in the folder itself, which `keywright init` must take for an empty project.
const tarballs = mkdtempSync(join(tmpdir(), "keywright-tarballs-"));
try {
  const sources = {
    zod: `zod@${zod}`,
    typescript: "typescript@7.0.2",
    "@types/node": "@types/node@20",
  };
  // All three first: npm would look for the packages that one of them depends on.
  for (const name of ["core", "orm", "codegen"]) {
    const output = npm(join(packages, name), "pack", "--json", "--pack-destination", tarballs);
    sources[`@keywright/${name}`] = join(tarballs, /"filename": "(.+?)"/.exec(output)[1]);
  }
  const named = namesToInstall().map((name) => {
    if (sources[name] === undefined) throw new Error(`README.md installs ${name}, which is new`);
    return sources[name];
  });
  const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  npm(folder, "install", ...quiet, ...named);
} finally {
  rmSync(tarballs, { recursive: true });
}

/** The packages of the commands in the section Install of README.md. */
function namesToInstall() {
  const readme = readFileSync(join(packages, "../README.md"), "utf8");
  const [, commands = ""] = /## Install\n\n```sh\n([^`]+)```/.exec(readme) ?? [];
  const names = [...commands.matchAll(/^npm install (.+)$/gm)].flatMap(([, rest]) =>
    rest.split(" ").filter((word) => !word.startsWith("-")),
  );
  if (names.length === 0) throw new Error("README.md has no commands that install the packages");
  return names;
}

function npm(cwd, ...args) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
}
