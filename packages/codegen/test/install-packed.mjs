// Packs the packages as they would be published and installs them in a folder: `node install-packed.mjs FOLDER`.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../..", import.meta.url));
const folder = resolve(process.argv[2]);
const tarballs = join(folder, "tarballs");
mkdirSync(tarballs, { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');

const { version: zod } = JSON.parse(
  readFileSync(join(packages, "../node_modules/zod/package.json"), "utf8"),
);
const packed = ["core", "orm", "codegen"].map((name) => {
  const output = npm(join(packages, name), "pack", "--json", "--pack-destination", tarballs);
  return `./tarballs/${/"filename": "(.+?)"/.exec(output)[1]}`;
});
const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
npm(folder, "install", ...quiet, ...packed, `zod@${zod}`, "typescript@6.0.3", "@types/node@20");

function npm(cwd, ...args) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
}
