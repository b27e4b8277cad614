import { relative, resolve, sep } from "node:path";
import { isDynamicPattern } from "tinyglobby";
import { posix } from "../project/paths.js";
import { isForKeywright } from "./model-folder.js";

/**
 * The answers that `keywright init` needs. Paths are relative to the project's folder and have
 * forward slashes.
 */
export interface Answers {
  /** The folder of the modules that export models. */
  readonly models: string;
  /** The folder of the generated files. */
  readonly output: string;
  /** The folder of the database, which `openKv` creates. */
  readonly database: string;
}

/**
 * Returns the default answers for a project. Folders with other contents are left alone, because a
 * project that used another library may have its own `src/models` and `src/db`.
 */
export function proposedAnswers(folder: string): Answers {
  const hasRoom = (candidate: string) => isForKeywright(resolve(folder, candidate));
  return {
    models: ["src/models", "src/keywright/models"].find(hasRoom) ?? "src/models",
    output: ["src/db", "src/keywright/db"].find(hasRoom) ?? "src/db",
    database: "data/app",
  };
}

/** Returns what is wrong with an answer. Undefined if it is valid. */
export function answerFault(
  folder: string,
  name: keyof Answers,
  answer: string,
): string | undefined {
  if (answer.trim() === "") return "A path is needed.";
  if (name === "database") return undefined;
  if (isDynamicPattern(answer)) return "A folder is needed, not a pattern.";
  const path = relative(folder, resolve(folder, answer));
  if (path === "") return "It has to be a folder of its own.";
  if (path === ".." || path.startsWith(`..${sep}`)) return "It has to be within the project.";
  return undefined;
}

/** Returns what is wrong with the combination of answers. Undefined if it is valid. */
export function answersFault(folder: string, { models, output }: Answers): string | undefined {
  return resolve(folder, models) === resolve(folder, output)
    ? "The models and the generated files need folders of their own."
    : undefined;
}

/** Normalizes the paths for the configuration: `./src/models/` becomes `src/models`. */
export function tidyAnswers(folder: string, answers: Answers): Answers {
  const tidy = (path: string) => posix(relative(folder, resolve(folder, path)));
  const { models, output, database } = answers;
  return { models: tidy(models), output: tidy(output), database: posix(database.trim()) };
}
