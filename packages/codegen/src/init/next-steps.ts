import { existsSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { sqliteFile } from "./answers.js";
import { programPath } from "./file-texts.js";
import type { PackageJson } from "./plan-files.js";

interface PackageManager {
  readonly add: string;
  readonly addDev: string;
  readonly run: string;
}

const npm: PackageManager = {
  add: "npm install",
  addDev: "npm install -D",
  run: "npx",
};

const others: Readonly<Record<string, PackageManager>> = {
  pnpm: { add: "pnpm add", addDev: "pnpm add -D", run: "pnpm exec" },
  yarn: { add: "yarn add", addDev: "yarn add --dev", run: "yarn" },
  bun: { add: "bun add", addDev: "bun add --dev", run: "bunx" },
};

const lockFiles: Readonly<Record<string, string>> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
};

const needed = ["@keywright/core", "@keywright/orm", "zod"];
/** The version of `better-sqlite3` has prebuilt binaries for Node.js 20. */
const sqlite = ["@keywright/sqlite", "better-sqlite3@12"];
const neededToBuild = ["@keywright/codegen", "typescript", "@types/node"];

/**
 * Returns the commands that install the missing packages, generate, and run the program.
 *
 * @param database the answer, see `Answers`.
 * @param builtProgram the path of the compiled example program. Undefined if there is none.
 */
export function nextSteps(
  folder: string,
  packageJson: PackageJson,
  database: string,
  builtProgram: string | undefined,
): string[] {
  const { add, addDev, run } = packageManager(folder, packageJson);
  const installed = { ...packageJson.dependencies, ...packageJson.devDependencies };
  const missing = (names: readonly string[]) =>
    names.filter((name) => !(name.replace(/(?<=.)@.*$/, "") in installed));
  const install = (command: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${command} ${names.join(" ")}`];
  return [
    ...install(add, missing(needed)),
    ...(sqliteFile(database) === undefined ? [] : install(add, missing(sqlitePackages(run)))),
    ...install(addDev, missing(neededToBuild)),
    `${run} keywright generate`,
    ...(builtProgram === undefined ? [] : runSteps(run, builtProgram)),
  ];
}

/** The SQLite of Bun and of newer versions of Node.js is built in. */
function sqlitePackages(run: string): string[] {
  return run === "bunx" || isBuiltin("node:sqlite") ? sqlite.slice(0, 1) : sqlite;
}

function runSteps(run: string, builtProgram: string): string[] {
  if (run === "bunx") return [`bun ${programPath}`];
  const runsTypeScript = Boolean((process.features as { typescript?: unknown }).typescript);
  return runsTypeScript ? [`node ${programPath}`] : [`${run} tsc`, `node ${builtProgram}`];
}

function packageManager(folder: string, { packageManager }: PackageJson): PackageManager {
  const named = typeof packageManager === "string" ? packageManager.split("@")[0] : undefined;
  const lockFile = Object.keys(lockFiles).find((name) => existsSync(join(folder, name)));
  const found = named ?? (lockFile === undefined ? undefined : lockFiles[lockFile]);
  return others[found ?? "npm"] ?? npm;
}
