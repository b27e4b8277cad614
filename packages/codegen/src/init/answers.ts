import { normalize, relative, resolve, sep } from "node:path";
import { isDynamicPattern } from "tinyglobby";
import { posix } from "../project/files/paths.js";
import { isForKeywright } from "./model-folder.js";

/** Paths are relative to the project's folder and have forward slashes. */
export interface Answers {
  readonly models: string;
  readonly output: string;
  /**
   * The folder of a database on LevelDB, or `sqlite:` and a file, as in `sqlite:data/app.sqlite`.
   */
  readonly database: string;
}

/** `sqlite:data/app.sqlite` → `data/app.sqlite`. Undefined for the folder of a database. */
export function sqliteFile(database: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/i.exec(database.trim())?.[1];
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
  if (name === "database") return databaseFault(answer);
  if (isDynamicPattern(answer)) return "Enter a folder, not a pattern.";
  const path = relative(folder, resolve(folder, answer));
  if (path === "") return "The folder must not be that of the project itself.";
  if (path === ".." || path.startsWith(`..${sep}`)) return "The folder must be inside the project.";
  return undefined;
}

/** A URL of another engine would become the name of a folder. */
function databaseFault(answer: string): string | undefined {
  const isOfEngine = /^(sqlite|lmdb|etcds?|postgres(ql)?):/i.test(answer.trim());
  return isOfEngine && sqliteFile(answer) === undefined
    ? "Enter a folder, or sqlite: and a file. Other engines are set in keywright.config.ts."
    : undefined;
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
  const file = sqliteFile(database);
  const tidyDatabase = posix(normalize(file ?? database.trim())).replace(/(?<=.)\/$/, "");
  return {
    models: tidy(models),
    output: tidy(output),
    database: file === undefined ? tidyDatabase : `sqlite:${tidyDatabase}`,
  };
}
