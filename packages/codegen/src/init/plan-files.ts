import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ProjectConfiguredError, ProjectFileError } from "../errors/codegen-errors.js";
import type { Answers } from "./answers.js";
import { configText, modelText, packageJsonText, tsconfigText } from "./file-texts.js";
import { isInGit, isWithinProject, withIgnored } from "./ignore-file.js";
import { hasModel, namesIn } from "./model-folder.js";
import { addScripts, missingScripts } from "./package-scripts.js";

/** A file as `keywright init` writes it. */
export interface PlannedFile {
  /** Absolute. */
  readonly path: string;
  readonly state: "created" | "changed";
  readonly text: string;
}

/** What is in a `package.json`, as far as it matters here. */
export interface PackageJson {
  readonly type?: unknown;
  readonly scripts?: unknown;
  readonly packageManager?: unknown;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** The files of a project's beginning, and the `package.json` that it has then. */
export interface Plan {
  readonly files: readonly PlannedFile[];
  readonly packageJson: PackageJson;
}

/**
 * Fails where a folder has a configuration already.
 *
 * @throws {ProjectConfiguredError} that names it.
 * @throws {ProjectFileError} where the folder cannot be read, or is none.
 */
export function assertUnconfigured(folder: string): void {
  const name = namesIn(folder).find((each) => /^keywright\.config\.\w+$/.test(each));
  if (name !== undefined) throw new ProjectConfiguredError(join(folder, name));
}

/**
 * Makes the files of a project's beginning. What is there stays as it is: `package.json` and `.gitignore` get lines that they
 * lack, and a file is made only where there is none. The configuration comes last: with it, the project has begun.
 *
 * @throws {ProjectConfiguredError} where the folder has a configuration already.
 * @throws {ProjectFileError} for a file that cannot be read, or is not what its name says.
 */
export async function planFiles(folder: string, answers: Answers): Promise<Plan> {
  assertUnconfigured(folder);
  const isNew = isBare(folder);
  const packageJson = await planPackageJson(folder);
  const texts = new Map<string, string | undefined>([["package.json", packageJson]]);
  if (isNew) await addAbsent(texts, folder, "tsconfig.json", tsconfigText(answers));
  texts.set(".gitignore", await planIgnoreFile(folder, answers, isNew));
  if (!hasModel(join(folder, answers.models))) {
    await addAbsent(texts, folder, `${answers.models}/user.ts`, modelText);
  }
  texts.set("keywright.config.ts", configText(answers));
  const files: PlannedFile[] = [];
  for (const [name, text] of texts) {
    const path = join(folder, name);
    const present = await readText(path);
    if (text === undefined || text === present) continue;
    files.push({ path, state: present === undefined ? "created" : "changed", text });
  }
  return { files, packageJson: parsed("package.json", packageJson) };
}

/** What may be in a folder in which nothing has been programmed yet. */
const bareNames =
  /^(\..*|package(-lock)?\.json|node_modules|[^.]*\.(md|txt)|LICEN[CS]E|(pnpm-lock\.yaml|yarn\.lock|bun\.lockb?))$/i;

function isBare(folder: string): boolean {
  return namesIn(folder).every((name) => bareNames.test(name));
}

async function planPackageJson(folder: string): Promise<string> {
  const path = join(folder, "package.json");
  const text = (await readText(path)) ?? packageJsonText(folder);
  const { scripts = {} } = parsed(path, text);
  return isObject(scripts) ? addScripts(text, missingScripts(scripts)) : text;
}

async function planIgnoreFile(
  folder: string,
  { database }: Answers,
  isNew: boolean,
): Promise<string | undefined> {
  const text = await readText(join(folder, ".gitignore"));
  if (text === undefined && !isInGit(folder)) return undefined;
  const built = isNew && text === undefined ? ["node_modules", "dist"] : [];
  return withIgnored(text, [...built, ...(isWithinProject(database) ? [database] : [])]);
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
    // Editors on Windows may begin a file with a mark, which npm ignores too.
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new ProjectFileError(path, error);
  }
  if (!isObject(value)) throw new ProjectFileError(path, new TypeError("It is no JSON object."));
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
    throw new ProjectFileError(path, error);
  }
}
