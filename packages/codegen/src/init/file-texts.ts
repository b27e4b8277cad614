import { basename, dirname } from "node:path";
import { relativePath } from "../project/files/paths.js";
import { type Answers, sqliteFile } from "./answers.js";

export function configText({ models, output, database }: Answers): string {
  return `import { defineConfig } from "@keywright/codegen";
${engineImports(database)}

export default defineConfig({
  models: ${JSON.stringify(`${models}/*.ts`)},
  output: ${JSON.stringify(output)},
  database: ${sqliteFile(database) === undefined ? "" : "async "}() => ${openingText(database)},
});
`;
}

/** The path of the program that {@link programText} is for. */
export const programPath = "src/main.ts";

/**
 * Returns the first lines of a program that runs in the project's folder.
 *
 * @param extension the extension of imported modules.
 */
export function programText(answers: Answers, extension: "js" | "ts"): string {
  return `${importsText(answers, extension)}

const kv = await ${openingText(answers.database)};
const db = await openRepositories(kv);`;
}

/** Returns {@link programText} for a project of CommonJS, whose modules cannot await. */
export function commonJsProgramText(answers: Answers, extension: "js" | "ts"): string {
  return `${importsText(answers, extension)}

async function main(): Promise<void> {
  const kv = await ${openingText(answers.database)};
  const db = await openRepositories(kv);
}`;
}

function importsText({ output, database }: Answers, extension: "js" | "ts"): string {
  const index = relativePath(dirname(programPath), `${output}/index.${extension}`);
  return `${engineImports(database)}
import { openRepositories } from ${JSON.stringify(index)};`;
}

function engineImports(database: string): string {
  const core = 'import { openKv } from "@keywright/core";';
  if (sqliteFile(database) === undefined) return core;
  return `${core}\nimport { sqliteEngine } from "@keywright/sqlite";`;
}

/** Returns the expression that opens the database. With SQLite it contains `await`. */
function openingText(database: string): string {
  const file = sqliteFile(database);
  return file === undefined
    ? `openKv(${JSON.stringify(database)})`
    : `openKv(await sqliteEngine({ path: ${JSON.stringify(file)} }))`;
}

/** Returns a program that uses the example model. It can run several times. */
export function exampleProgramText(answers: Answers): string {
  return `${programText(answers, "ts")}

const ada = { name: "Ada", email: "ada@example.com" };
await db.users.upsertByEmail(ada.email, { create: ada, update: { name: ada.name } });
console.log(await db.users.findByEmail("ADA@example.com"));
await kv.close();
`;
}

/** The path of the compiled program, with the `tsconfig.json` of a new project. */
export function builtProgramPath(answers: Answers): string {
  return sourceFolders(answers).length === 1 ? "dist/main.js" : "dist/src/main.js";
}

function sourceFolders({ models, output }: Answers): string[] {
  return [...new Set(["src", ...[models, output].map((path) => path.split("/")[0]!)])];
}

/** The text of an example model, which the user changes or replaces. */
export const modelText = `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.ulid(),
    email: z.email(),
    name: z.string().describe("The name that the user wants to be called."),
    createdAt: z.date().default(() => new Date()),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: "lowercase" },
    byCreatedAt: { key: "createdAt" },
  },
});
`;

export function packageJsonText(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const named = name === "" ? {} : { name };
  return `${JSON.stringify({ ...named, private: true, type: "module" }, null, 2)}\n`;
}

export function tsconfigText(answers: Answers): string {
  const folders = sourceFolders(answers);
  return `{
  "compilerOptions": {
    "target": "ES2023",
    "module": "NodeNext",
    "rootDir": "${folders.length === 1 ? "src" : "."}",
    "outDir": "dist",
    "types": ["node"],
    "rewriteRelativeImportExtensions": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "strict": true,
    "skipLibCheck": true
  },
  "include": [${folders.map((folder) => JSON.stringify(folder)).join(", ")}]
}
`;
}
