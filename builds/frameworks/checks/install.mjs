import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const programs = fileURLToPath(new URL("..", import.meta.url));
const packages = fileURLToPath(new URL("../../../packages", import.meta.url));

/** Copies programs into a folder, and installs there what they all need. */
export async function installPrograms(folder, names) {
  const packed = await pack(join(folder, "packed"));
  const all = {};
  for (const name of names) {
    const own = join(folder, name);
    await cp(join(programs, name), own, { recursive: true });
    const text = await readFile(join(own, "package.json"), "utf8").catch(() => "{}");
    const manifest = JSON.parse(text);
    // As in the project of a user, who has installed the packages too.
    const dependencies = { ...manifest.dependencies, ...packed };
    await writeFile(join(own, "package.json"), JSON.stringify({ ...manifest, dependencies }));
    Object.assign(all, manifest.devDependencies, dependencies);
  }
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies: all }),
  );
  await execute("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder });
}

/** Packs the packages. Returns them as dependencies with the paths of their files. */
async function pack(to) {
  await mkdir(to);
  for (const name of ["core", "orm"]) {
    const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", to];
    await execute("npm", args, { cwd: join(packages, name) });
  }
  const files = await readdir(to);
  const named = (file) => file.replace(/^keywright-(.+)-[\d.]+\.tgz$/, "@keywright/$1");
  return Object.fromEntries(files.map((file) => [named(file), `file:${join(to, file)}`]));
}
