import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { ProjectConfiguredError, ProjectFileError } from "../errors/codegen-errors.js";
import { findTsconfig } from "../project/config/read-tsconfig.js";
import { type Answers, sqliteFile } from "./answers.js";
import {
  configText,
  exampleProgramText,
  modelText,
  packageJsonText,
  programPath,
  tsconfigText,
} from "./file-texts.js";
import { hasModel, namesIn } from "./model-folder.js";
import { addScripts, missingScripts, setModuleType } from "./package-scripts.js";

export interface PlannedFile {
  readonly path: string;
  readonly state: "created" | "changed";
  readonly text: string;
}

export interface PackageJson {
  readonly type?: unknown;
  readonly scripts?: unknown;
  readonly packageManager?: unknown;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** The files to write for a new project, and the `package.json` that it then has. */
export interface Plan {
  readonly files: readonly PlannedFile[];
  readonly packageJson: PackageJson;
  /** True if the folder had no program, so that an example program is written. */
  readonly isNew: boolean;
}

/** True if a folder has a configuration. */
export function isConfigured(folder: string): boolean {
  return configurationIn(folder) !== undefined;
}

function configurationIn(folder: string): string | undefined {
  return namesIn(folder).find((each) => /^keywright\.config\.\w+$/.test(each));
}

export function assertUnconfigured(folder: string): void {
  const name = configurationIn(folder);
  if (name !== undefined) throw new ProjectConfiguredError({ path: join(folder, name) });
}

/**
 * Plans the files for a new project. Existing files stay, except that `package.json` and
 * `.gitignore` get the lines that they lack. The configuration comes last, because its existence
 * means that the project is set up.
 *
 * @param isModule true to set `"type": "module"` in `package.json`.
 */
export async function planFiles(
  folder: string,
  answers: Answers,
  isModule: boolean,
): Promise<Plan> {
  assertUnconfigured(folder);
  const isNew = isBare(folder);
  const packageJson = await planPackageJson(folder, isModule);
  const texts = new Map<string, string | undefined>([["package.json", packageJson]]);
  // Without it, neither Node.js nor the compiler could run the generated modules. A program of
  // CommonJS has to become one of ES modules first.
  const needsTsconfig = isNew || (isModuleText(packageJson) && findTsconfig(folder) === undefined);
  if (needsTsconfig) await addAbsent(texts, folder, "tsconfig.json", tsconfigText(answers));
  texts.set(".gitignore", await planIgnoreFile(folder, answers, isNew));
  if (!hasModel(join(folder, answers.models))) {
    await addAbsent(texts, folder, `${answers.models}/user.ts`, modelText);
  }
  if (isNew) await addAbsent(texts, folder, programPath, exampleProgramText(answers));
  texts.set("keywright.config.ts", configText(answers));
  const files: PlannedFile[] = [];
  for (const [name, text] of texts) {
    const path = join(folder, name);
    const present = await readText(path);
    if (text === undefined || text === present) continue;
    files.push({ path, state: present === undefined ? "created" : "changed", text });
  }
  return { files, packageJson: parsed("package.json", packageJson), isNew };
}

/** The names that a folder may contain and still count as a folder without a program. */
const bareNames =
  /^(\..*|package(-lock)?\.json|node_modules|[^.]*\.(md|txt)|LICEN[CS]E|(pnpm-lock\.yaml|yarn\.lock|bun\.lockb?))$/i;

/** True if a folder contains no program, so that no existing program can break. */
export function isBare(folder: string): boolean {
  return namesIn(folder).every((name) => bareNames.test(name));
}

/** Reads the `type` of the `package.json` in a folder. A new one is of type `module`. */
export async function isModuleFolder(folder: string): Promise<boolean> {
  const path = join(folder, "package.json");
  const text = await readText(path);
  return text === undefined || parsed(path, text).type === "module";
}

function isModuleText(packageJson: string): boolean {
  return parsed("package.json", packageJson).type === "module";
}

async function planPackageJson(folder: string, isModule: boolean): Promise<string> {
  const path = join(folder, "package.json");
  const present = (await readText(path)) ?? packageJsonText(folder);
  const { scripts = {}, type } = parsed(path, present);
  const text = isModule && type !== "module" ? setModuleType(present) : present;
  return isObject(scripts) ? addScripts(text, missingScripts(scripts)) : text;
}

async function planIgnoreFile(
  folder: string,
  { database }: Answers,
  isNew: boolean,
): Promise<string | undefined> {
  const text = await readText(join(folder, ".gitignore"));
  if (text === undefined && !isInGit(folder)) return undefined;
  const built = isNew && text === undefined ? ["node_modules/", "dist/"] : [];
  const file = sqliteFile(database);
  // SQLite keeps two more files next to its own.
  const stored = file === undefined ? `${database}/` : `${file}*`;
  return withIgnored(text, [...built, ...(isWithinProject(file ?? database) ? [stored] : [])]);
}

async function addAbsent(
  texts: Map<string, string | undefined>,
  folder: string,
  name: string,
  text: string,
): Promise<void> {
  if ((await readText(join(folder, name))) === undefined) texts.set(name, text);
}

function parsed(path: string, text: string): PackageJson {
  let value: unknown;
  try {
    // Editors on Windows may begin a file with a byte order mark, which npm also ignores.
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new ProjectFileError({ path }, error);
  }
  if (!isObject(value)) {
    throw new ProjectFileError({ path }, new TypeError("It is not a JSON object."));
  }
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ProjectFileError({ path }, error);
  }
}

/**
 * Adds missing lines to the text of a `.gitignore`.
 *
 * @param text the current text. Undefined if there is no file.
 * @param places what to ignore, relative to the file, such as `data/app/` or `data/app.sqlite*`.
 * @returns the same text if no line is missing.
 */
function withIgnored(text: string | undefined, places: readonly string[]): string | undefined {
  const lines = new Set((text ?? "").split(/\r?\n/).map(normalizeLine));
  const missing = places.filter((place) => !parents(place).some((parent) => lines.has(parent)));
  if (missing.length === 0) return text;
  const lineEnd = text?.includes("\r\n") ? "\r\n" : "\n";
  const start = text === undefined || text === "" || text.endsWith("\n") ? "" : lineEnd;
  return `${text ?? ""}${start}${missing.map((place) => `/${place}${lineEnd}`).join("")}`;
}

/** True if the database is inside the project, so it must be ignored. */
function isWithinProject(database: string): boolean {
  return !isAbsolute(database) && !/^(\.\.(\/|$)|[a-zA-Z]:|\.?$)/.test(database);
}

function isInGit(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  return dirname(folder) !== folder && isInGit(dirname(folder));
}

/** `data/app` → `data`, `data/app`: a line for any of these ignores it. */
function parents(folder: string): string[] {
  const parts = normalizeLine(folder).split("/");
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
}

/** Removes the slashes and stars around a path, which make no difference here. */
function normalizeLine(line: string): string {
  return line
    .trim()
    .replace(/^(\.?\/)/, "")
    .replace(/(\/\**|\/)$/, "");
}
