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
  await Promise.all([unpack(packages, folder), linkOthers(modules)]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** Packs all of the packages at once, because most of the time is the start of npm. */
async function unpack(packages: readonly string[], folder: string): Promise<void> {
  const workspaces = packages.flatMap((name) => ["--workspace", `packages/${name}`]);
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, ...workspaces];
  const { stdout } = await execute("npm", args, { cwd: root });
  const packed: { name: string; filename: string }[] = Object.values(JSON.parse(stdout));
  for (const { name, filename } of packed) {
    const target = join(folder, "node_modules", name);
    await mkdir(target);
    await execute("tar", ["-xzf", join(folder, filename), "--strip-components=1"], { cwd: target });
  }
}

async function linkOthers(modules: string): Promise<void> {
  const installed = join(root, "node_modules");
  for (const name of await readdir(installed))
    if (name !== "@keywright" && !name.startsWith("."))
      await symlink(join(installed, name), join(modules, name), "junction");
}
