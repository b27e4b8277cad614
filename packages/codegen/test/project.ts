import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { run } from "../src/cli/run.js";

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const command = fileURLToPath(new URL("../bin/keywright.js", import.meta.url));

/** A user's project: a folder somewhere else, in which Keywright and Zod are installed. */
export interface Project {
  readonly folder: string;
  path(name: string): string;
  read(name: string): Promise<string>;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /**
   * Runs the command in this process.
   *
   * @param columns the width of the terminal for the output. Without it, there is no terminal.
   */
  run(args: readonly string[], columns?: number): Promise<Outcome>;
  /** Runs the real command in a process of its own. */
  spawn(args: readonly string[]): Promise<Outcome>;
  remove(): Promise<void>;
}

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A configuration for models in `models` and output in `db`. */
export const config = 'export default { models: "models/*.ts", output: "db" };\n';

/** A module with one model. */
export function modelModule(exportName: string, name: string, indexes = "{}"): string {
  return `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const ${exportName} = defineModel({
  name: ${JSON.stringify(name)},
  schema: z.object({ id: z.ulid(), email: z.email() }),
  primaryKey: "id",
  indexes: ${indexes},
});
`;
}

export async function createProject(files: Readonly<Record<string, string>>): Promise<Project> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "keywright-codegen-")));
  const path = (name: string) => join(folder, name);
  const project: Project = {
    folder,
    path,
    read: (name) => readFile(path(name), "utf8"),
    write: async (files) => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(path(name)), { recursive: true });
        await writeFile(path(name), text);
      }
    },
    run: (args, columns) => runHere(folder, args, columns),
    spawn: (args) => spawnCommand(folder, args),
    remove: () => rm(folder, { recursive: true }),
  };
  await symlink(modules, path("node_modules"), "junction");
  await project.write({ "package.json": '{ "type": "module" }\n', ...files });
  return project;
}

/**
 * Runs the command in this process, in a folder.
 *
 * @param onOutput called after each write to the standard output, with the whole of it.
 */
export async function runHere(
  folder: string,
  args: readonly string[],
  columns?: number,
  onOutput: (stdout: string) => void = () => undefined,
): Promise<Outcome> {
  let [stdout, stderr] = ["", ""];
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const stream = (write: (text: string) => void) =>
    ({ ...terminal, write }) as unknown as NodeJS.WriteStream;
  const exitCode = await run(args, {
    folder,
    // It belongs to the whole process, in which other tests may run commands.
    enter: () => undefined,
    stdin: {} as NodeJS.ReadStream,
    stdout: stream((text) => {
      stdout += text;
      onOutput(stdout);
    }),
    stderr: stream((text) => {
      stderr += text;
    }),
  });
  return { exitCode, stdout, stderr };
}

const started = new Set<Promise<Outcome>>();

/**
 * Starts a command that runs in this process until it is stopped, and returns the first line of its
 * output. Rejects if the command ends before.
 */
export function startHere(folder: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const outcome = runHere(folder, args, undefined, (stdout) => {
      const [line = "", ...others] = stdout.split("\n");
      if (others.length > 0) resolve(line);
    });
    started.add(outcome);
    outcome.then(({ stderr }) => reject(new Error(`The command has ended: ${stderr}`)), reject);
  });
}

/** Stops the commands that {@link startHere} has started, as the signal SIGTERM does. */
export async function stopStarted(): Promise<Outcome[]> {
  const outcomes = [...started];
  started.clear();
  if (outcomes.length > 0) process.emit("SIGTERM");
  return await Promise.all(outcomes);
}

/** Runs the real command in a process of its own. */
export function spawnCommand(folder: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command, ...args], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}
