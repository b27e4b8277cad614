import {
  eachFile,
  type Files,
  neighboursOf,
  type Program,
  positions,
  readsParent,
} from "./program.js";

/** The configuration of `keywright generate`, which writes to `db`. */
export const configuration: Files = {
  "keywright.config.ts": 'export default { models: "models/*.ts", output: "db" };\n',
};

export function modelFiles(count: number): Files {
  return eachFile(
    count,
    (i) => `models/model-${i}.ts`,
    (i) => modelText(i, count),
  );
}

function modelText(i: number, count: number): string {
  const { parent, child } = neighboursOf(i, count);
  return `import { belongsTo, defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";

export const Model${i} = defineModel({
  name: "model${i}",
  schema: z.object({
    id: z.ulid(),
    email: z.email(),
    name: z.string().min(1),
    status: z.enum(["draft", "open", "closed"]),
    team${i}: z.string(),
    score${i}: z.number(),
    active: z.boolean().default(true),
    note: z.string().nullable(),
    address: z.object({ street: z.string(), city: z.string(), zip: z.string().optional() }),
    tags: z.array(z.string()).default([]),
    createdAt: z.date().default(() => new Date()),
    parentId: z.ulid(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: "lowercase" },
    byTeamAndScore: { key: ["team${i}", "score${i}"] },
    byParent: { key: "parentId" },
  },
  relations: {
    parent: belongsTo("model${parent}", "parentId"),
    children: hasMany("model${child}", "parentId"),
  },
});
`;
}

/** The argument of `create`. */
export function rowText(i: number): string {
  return `{
    email: "a",
    name: "b",
    status: "open",
    team${i}: "c",
    score${i}: 1,
    note: null,
    address: { street: "d", city: "e" },
    parentId: "f",
  }`;
}

/** Code that uses the results of the queries, so that the compiler resolves their types. */
export function resultText(i: number, parentName: string, items: string): string {
  const parent = readsParent(i) ? parentName : "one?.name";
  return `  const values: readonly (string | number | undefined)[] = [
    ${parent}, one?.address.city, ${items}[0]?.score${i}, ${items}[0]?.status, made.tags[0], changed.name,
  ];
  return values;
`;
}

/** Models, and queries with `createDatabase`, which infers the types of its repositories. */
export function inferredProgram(count: number): Program {
  const names = positions(count);
  return {
    imports: {
      "imports.ts": `import type { Kv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";
export type { Kv };
export { belongsTo, createDatabase, defineModel, hasMany, z };
`,
    },
    models: modelFiles(count),
    database: {
      "database.ts": `import type { Kv } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
${names.map((i) => `import { Model${i} } from "./models/model-${i}.js";`).join("\n")}

const models = { ${names.map((i) => `model${i}: Model${i}`).join(", ")} };
export async function open(kv: Kv) {
  return await createDatabase({ kv, models });
}
export type Db = Awaited<ReturnType<typeof open>>;
`,
    },
    queries: eachFile(count, (i) => `queries-${i}.ts`, inferredQueries),
  };
}

function inferredQueries(i: number): string {
  const include = readsParent(i) ? ", include: { parent: true }" : "";
  return `import type { Db } from "./database.js";

export async function queries${i}(db: Db) {
  const one = await db.model${i}.findUnique({ where: { email: "a" }${include} });
  const page = await db.model${i}.findMany({
    where: { team${i}: "a", score${i}: { gte: 1 } },
    orderBy: { score${i}: "desc" },
    take: 10,
  });
  const made = await db.model${i}.create({ data: ${rowText(i)} });
  const changed = await db.model${i}.update({ where: { id: made.id }, data: { name: "g" } });
${resultText(i, "one?.parent.name", "page.items")}}
`;
}

/**
 * Models, and queries with the repositories that `keywright generate` makes from `modelFiles`.
 *
 * @param generated the generated files.
 */
export function generatedProgram(count: number, generated: Files): Program {
  return {
    imports: {
      "imports.ts": `import type { Kv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel, hasMany } from "@keywright/orm";
import { type Rows, rowsOf } from "@keywright/orm/codegen";
import * as z from "zod";
export type { Kv, Rows };
export { belongsTo, createDatabase, defineModel, hasMany, rowsOf, z };
`,
    },
    models: modelFiles(count),
    database: generated,
    queries: eachFile(count, (i) => `queries-${i}.ts`, generatedQueries),
  };
}

function generatedQueries(i: number): string {
  const parent = readsParent(i)
    ? `  const parent = one && (await db.model${i}.loadParent(one));\n`
    : "";
  return `import type { Repositories } from "./db/index.js";

export async function queries${i}(db: Repositories) {
  const one = await db.model${i}.findByEmail("a");
${parent}  const page = await db.model${i}.listByTeamAndScore(
    { team${i}: "a", score${i}: { gte: 1 } },
    { order: "desc", take: 10 },
  );
  const made = await db.model${i}.create(${rowText(i)});
  const changed = await db.model${i}.update(made.id, { name: "g" });
${resultText(i, "parent?.name", "page.items")}}
`;
}
