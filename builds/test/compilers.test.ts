// Programs that TypeScript compiles against the packed packages.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PackedProject, packedProject } from "./packed-project.js";

const tsc = fileURLToPath(new URL("../../node_modules/typescript-7/bin/tsc", import.meta.url));

const program = `
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), role: z.string() }),
  primaryKey: "id",
  indexes: { byRole: { key: "role" } },
});

async function main() {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { users: User } });
  await db.users.create({ data: { id: "1", role: "admin" } });
  console.log((await db.users.findMany({ where: { role: "admin" } })).items.length);
}
void main();
`;

/** Functions that return what each method returns, without naming a type. */
const inferred = `
import { openKv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), role: z.string(), age: z.number().int() }),
  primaryKey: "id",
  indexes: {
    byRole: { key: "role", count: true, sum: ["age"] },
    byAge: { key: "age", ranked: true },
  },
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  indexes: { byAuthorId: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId") },
});
export const open = async () =>
  await createDatabase({ kv: await openKv(), models: { users: User, posts: Post } });
type Database = Awaited<ReturnType<typeof open>>;
const data = { id: "1", role: "admin", age: 36 };
const where = { id: "1" };

export const create = (db: Database) => db.users.create({ data, select: { id: true } });
export const createMany = (db: Database) => db.users.createMany({ data: [data] });
export const update = (db: Database) => db.users.update({ where, data: { age: 37 } });
export const updateMany = (db: Database) =>
  db.users.updateMany({ where: { role: "admin" }, data: { age: 1 }, atomic: true });
export const upsert = (db: Database) => db.users.upsert({ where, create: data, update: {} });
export const remove = (db: Database) => db.users.delete({ where });
export const removeMany = (db: Database) => db.users.deleteMany({ where: { role: "admin" } });
export const one = (db: Database) => db.users.findUnique({ where, include: { posts: true } });
export const first = (db: Database) => db.users.findFirst({ where: { role: "admin" } });
export const many = (db: Database) =>
  db.users.findMany({ where: { role: "admin" }, include: { posts: { take: 1 } } });
export const scan = (db: Database) => db.users.scan({ select: { id: true } });
export const count = (db: Database) => db.users.count({ where: { role: "admin" } });
export const totals = (db: Database) =>
  db.users.aggregate({ where: { role: "admin" }, count: true, sum: { age: true } });
export const groups = (db: Database) =>
  db.users.groupBy({ by: ["role"], count: true, sum: { age: true } });
export const distinct = (db: Database) => db.users.distinct({ field: "role" });
export const rank = (db: Database) => db.users.rank({ index: "byAge", where });
export const plan = (db: Database) => db.users.explain({ where: { role: "admin" } });
export const transaction = (db: Database) =>
  db.transaction(async (tx) => tx.users.findUniqueOrThrow({ where }));
`;

let project: PackedProject;
beforeAll(async () => {
  project = await packedProject(["core", "orm"]);
});
afterAll(() => project.remove());

/** Compiles the program in a folder of its own, and returns what the compiler printed. */
async function compile(
  name: string,
  options: Record<string, unknown>,
  source: string = program,
): Promise<string> {
  const folder = join(project.folder, name);
  await mkdir(folder);
  const compilerOptions = { strict: true, target: "es2022", outDir: "out", types: ["node"] };
  const config = { compilerOptions: { ...compilerOptions, ...options }, files: ["main.ts"] };
  await Promise.all([
    writeFile(join(folder, "main.ts"), source),
    writeFile(join(folder, "package.json"), '{ "type": "commonjs" }'),
    writeFile(join(folder, "tsconfig.json"), JSON.stringify(config)),
  ]);
  return await run(folder, tsc, "--pretty", "false");
}

function run(cwd: string, ...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

it.each(["nodenext", "node20"])("CommonJS with module %s", async (module) => {
  expect(await compile(module, { module })).toBe("");
  // Older versions of Node.js have require() of ES modules only behind a flag.
  expect(
    await run(join(project.folder, module), "--experimental-require-module", "out/main.js"),
  ).toContain("1\n");
});

it("CommonJS with module node16 is refused by the compiler, which names import()", async () => {
  expect(await compile("node16", { module: "node16" })).toContain("dynamic 'import(");
});

it("without strictNullChecks, the error says which setting to change", async () => {
  const output = await compile("loose", { module: "nodenext", strictNullChecks: false });
  expect(output).toContain('NeedsStrictNullChecks<"set strict, or at least strictNullChecks, to');
  expect(output).not.toContain("TS2589");
});

it("declarations of functions that return what a method returns", async () => {
  const options = { module: "nodenext", declaration: true };
  expect(await compile("declarations", options, inferred)).toBe("");
});
