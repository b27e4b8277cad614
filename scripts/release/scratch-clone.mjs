import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { done } from "./run.mjs";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Clones the repository, with the installed dependencies and the built packages of this one. */
export async function scratchClone(folder) {
  await done("git", ["clone", "--quiet", root, folder]);
  await done("git", ["config", "user.name", "release rehearsal"], { cwd: folder });
  await done("git", ["config", "user.email", "rehearsal@localhost"], { cwd: folder });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  for (const name of readdirSync(join(root, "packages"))) {
    const built = join(root, "packages", name, "dist");
    if (!existsSync(built)) throw new Error(`packages/${name} is not built. Run npm run build.`);
    cpSync(built, join(folder, "packages", name, "dist"), { recursive: true });
  }
}

/** The packages of a clone that are published: their folders and manifests. */
export function publishedPackages(folder) {
  return readdirSync(join(folder, "packages")).flatMap((name) => {
    const own = join(folder, "packages", name);
    const manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
    return manifest.private === true ? [] : [{ folder: own, manifest }];
  });
}
