import { basename, dirname } from "node:path";
import { relativePath } from "../project/paths.js";
import type { Answers } from "./answers.js";

export function configText({ models, output, database }: Answers): string {
  return `import { defineConfig } from "@keywright/codegen";
import { openKv } from "@keywright/core";

export default defineConfig({
  models: ${JSON.stringify(`${models}/*.ts`)},
  output: ${JSON.stringify(output)},
  database: () => openKv(${JSON.stringify(database)}),
});
`;
}

/** The path of the program that {@link programText} is for. */
export const programPath = "src/main.ts";

/** Returns the first lines of a program that runs in the project's folder. */
export function programText({ output, database }: Answers): string {
  const index = relativePath(dirname(programPath), `${output}/index.js`);
  return `import { openKv } from "@keywright/core";
import { openRepositories } from ${JSON.stringify(index)};

const db = await openRepositories(await openKv(${JSON.stringify(database)}));`;
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
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
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

export function tsconfigText({ models, output }: Answers): string {
  const folders = [...new Set(["src", ...[models, output].map((path) => path.split("/")[0]!)])];
  return `{
  "compilerOptions": {
    "target": "ES2023",
    "module": "NodeNext",
    "rootDir": "${folders.length === 1 ? "src" : "."}",
    "outDir": "dist",
    "types": ["node"],
    "strict": true,
    "skipLibCheck": true
  },
  "include": [${folders.map((folder) => JSON.stringify(folder)).join(", ")}]
}
`;
}
