import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Files } from "./program.js";

const command = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));

/** Writes files below a folder and returns their absolute paths. */
export async function writeFiles(folder: string, files: Files): Promise<string[]> {
  const written = Object.entries(files).map(async ([name, text]) => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  });
  return await Promise.all(written);
}

/** The TypeScript files below a folder, by their paths from it. */
export async function readFiles(folder: string, below: string): Promise<Files> {
  const names = await readdir(join(folder, below), { recursive: true });
  const read = names
    .filter((name) => name.endsWith(".ts"))
    .map(async (name) => {
      const path = join(below, name);
      return [path, await readFile(join(folder, path), "utf8")] as const;
    });
  return Object.fromEntries(await Promise.all(read));
}

/** Runs the built `keywright generate` in a folder. */
export function runGenerate(folder: string): void {
  runNode(folder, [command, "generate"]);
}

/** Runs Node.js in a folder and returns what it prints. */
export function runNode(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}
