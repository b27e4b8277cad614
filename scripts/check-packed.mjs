// `npm run test:slow` runs this: checks the packages as they would be published, with publint, and
// with "Are the types wrong?" for programs in ES modules. All of them in one process, from tarballs
// that npm makes in one run, because most of the time of a package would be the start of the tools.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The packages have ES modules only: how CommonJS and old compilers find them does not matter. */
const ignoredResolutions = ["node10", "node16-cjs"];

const folder = mkdtempSync(join(tmpdir(), "keywright-tarballs-"));
try {
  for (const { name, filename } of pack()) {
    const tarball = new Uint8Array(readFileSync(join(folder, filename)));
    for (const problem of [...(await published(tarball)), ...(await types(tarball))]) {
      console.error(`${name}: ${problem}`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Packs all packages. Returns the name of each and the name of its file in the folder. */
function pack() {
  const workspaces = readdirSync(join(root, "packages"))
    .filter((name) => existsSync(join(root, "packages", name, "package.json")))
    .flatMap((name) => ["--workspace", `packages/${name}`]);
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, ...workspaces];
  const options = { cwd: root, encoding: "utf8", shell: process.platform === "win32" };
  return Object.values(JSON.parse(execFileSync("npm", args, options)));
}

/** Returns what publint finds in a tarball, as sentences. */
async function published({ buffer }) {
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  return messages
    .filter(({ type }) => type === "error")
    .map((message) => formatMessage(message, pkg, { color: false }));
}

/** Returns the entry points of a tarball whose types are not found, or are not those of the code. */
async function types(tarball) {
  const analysis = await checkPackage(createPackageFromTarballData(tarball));
  if (analysis.types === false) return ["it has no types"];
  return analysis.problems
    .filter(({ resolutionKind }) => !ignoredResolutions.includes(resolutionKind))
    .map((problem) => JSON.stringify(problem));
}
