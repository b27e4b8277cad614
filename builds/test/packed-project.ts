import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** A folder in which the packages are installed as they would be published. */
export interface PackedProject {
  /** The absolute path of the folder. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** Packs some of the packages and unpacks them in a new folder. What they depend on is linked. */
export async function packedProject(packages: readonly string[]): Promise<PackedProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "keywright-builds-")));
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, "@keywright"), { recursive: true });
  await Promise.all([...packages.map((name) => unpack(name, modules)), linkOthers(modules)]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

async function unpack(name: string, modules: string): Promise<void> {
  const target = join(modules, "@keywright", name);
  await mkdir(target);
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", target];
  const { stdout } = await execute("npm", args, { cwd: join(root, "packages", name) });
  const [, file = ""] = /"filename": "(.+?)"/.exec(stdout) ?? [];
  await execute("tar", ["-xzf", file, "--strip-components=1"], { cwd: target });
}

async function linkOthers(modules: string): Promise<void> {
  const installed = join(root, "node_modules");
  for (const name of await readdir(installed))
    if (name !== "@keywright" && !name.startsWith("."))
      await symlink(join(installed, name), join(modules, name), "junction");
}
