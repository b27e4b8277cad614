import { relative, resolve, sep } from "node:path";
import { isDynamicPattern } from "tinyglobby";
import { posix } from "../project/files/paths.js";
import { isForKeywright } from "./model-folder.js";

/** Paths are relative to the project's folder and have forward slashes. */
export interface Answers {
  readonly models: string;
  readonly output: string;
  /** The folder of the database, which `openKv` creates. */
  readonly database: string;
}

/** Avoids folders with other contents, such as the `src/models` of another library. */
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
  if (answer.trim() === "") return "Enter a path.";
  if (name === "database") return undefined;
  if (isDynamicPattern(answer)) return "Enter a folder, not a pattern.";
  const path = relative(folder, resolve(folder, answer));
  if (path === "") return "The folder must not be that of the project itself.";
  if (path === ".." || path.startsWith(`..${sep}`)) return "The folder must be inside the project.";
  return undefined;
}

export function answersFault(folder: string, { models, output }: Answers): string | undefined {
  return resolve(folder, models) === resolve(folder, output)
    ? "The models and the generated files must be in different folders."
    : undefined;
}

/** Normalizes the paths for the configuration: `./src/models/` becomes `src/models`. */
export function tidyAnswers(folder: string, answers: Answers): Answers {
  const tidy = (path: string) => posix(relative(folder, resolve(folder, path)));
  const { models, output, database } = answers;
  return { models: tidy(models), output: tidy(output), database: posix(database.trim()) };
}
