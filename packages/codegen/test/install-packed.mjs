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
  const packed = ["core", "orm", "codegen"].map((name) => {
    const output = npm(join(packages, name), "pack", "--json", "--pack-destination", tarballs);
    return join(tarballs, /"filename": "(.+?)"/.exec(output)[1]);
  });
  const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  npm(folder, "install", ...quiet, ...packed, `zod@${zod}`, "typescript@7.0.2", "@types/node@20");
} finally {
  rmSync(tarballs, { recursive: true });
}

function npm(cwd, ...args) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
}
