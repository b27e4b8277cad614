import { openKv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel, type MigrationProgress } from "@keywright/orm";
import { compileModel } from "@keywright/orm/codegen";
import { verifyIndexes } from "@keywright/orm/migrate";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { verifyReferences } from "../src/cli/verify/verify-references.js";
import { playersConfig, withDatabase } from "./players-project.js";
import { createProject, type Project } from "./project.js";

const models = `import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
});

export const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string().nullable() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId", { onDelete: "restrict" }) },
});
`;

let project: Project;
const created: Project[] = [];

afterEach(async () => {
  for (const one of created.splice(0)) await one.remove();
});

/** A project with posts of these authors, and users. */
async function blog(authors: readonly (string | null)[], users: readonly string[]): Promise<void> {
  project = await createProject({
    "keywright.config.ts": playersConfig(),
    "models/blog.ts": models,
  });
  created.push(project);
  await withDatabase(project, async (kv) => {
    // A program that knows no relations.
    const db = await createDatabase({
      kv,
      models: {
        users: defineModel({
          name: "users",
          schema: z.object({ id: z.string() }),
          primaryKey: "id",
        }),
        posts: defineModel({
          name: "posts",
          schema: z.object({ id: z.string(), authorId: z.string().nullable() }),
          primaryKey: "id",
          indexes: { byAuthor: { key: "authorId" } },
        }),
      },
    });
    for (const id of users) await db.users.create({ data: { id } });
    for (const [i, authorId] of authors.entries()) {
      await db.posts.create({ data: { id: `p${String(i).padStart(2, "0")}`, authorId } });
    }
  });
}

it("says that references lead to rows", async () => {
  await blog(["ada", null], ["ada"]);
  const { exitCode, stdout } = await project.run(["verify"]);
  expect(stdout).toBe(
    [
      "posts  2 rows, 1 entry of byAuthor: clean",
      "posts  2 rows, references of author: clean",
      "users  there is no index to check",
      "Clean. The indexes match the rows, and all references lead to rows.",
      "",
    ].join("\n"),
  );
  expect(exitCode).toBe(0);
});

it("names references that lead to no row, and what to do, for no repair does", async () => {
  await blog(["ada", "bob", null], ["ada"]);
  for (const args of [[], ["--repair"]]) {
    const { exitCode, stdout } = await project.run(["verify", ...args]);
    expect(stdout).toContain(
      [
        "posts  3 rows, 2 entries of byAuthor: clean",
        "posts  3 rows, references of author: 1 leads to no row",
        '  row "p01"  author: authorId "bob" leads to no row of users',
        "users  there is no index to check",
        "Damaged. Correct the rest yourself, then verify again:",
        "  - create the missing rows, or change or delete the rows with the references (--repair does not change references)",
        "",
      ].join("\n"),
    );
    expect(exitCode).toBe(1);
  }
  await withDatabase(project, (kv) => kv.set(["users", "bob"], { id: "bob" }));
  expect((await project.run(["verify"])).exitCode).toBe(0);
});

it("shows the first of many, and all that is wrong beside them", async () => {
  await blog(
    Array.from({ length: 12 }, () => "bob"),
    [],
  );
  await withDatabase(project, (kv) => kv.delete(["posts_by_author", "bob", "p03"]));
  const found = await project.run(["verify"]);
  expect(found.stdout).toContain("11 entries of byAuthor: 1 missing\n");
  expect(found.stdout).toContain("references of author: 12 lead to no row\n");
  expect(found.stdout).toContain('  row "p09"  author');
  expect(found.stdout).toContain("  … 2 more\n");
  expect(found.stdout).toContain("Damaged. To repair this:\n  npx keywright verify --repair");
  expect(found.stdout).toContain("A repair does not change references: create the missing rows");
  const repaired = await project.run(["verify", "--repair"]);
  expect(repaired.stdout).toContain("1 missing; 1 repaired");
  expect(repaired.stdout).toContain(
    "Damaged. Correct the rest yourself, then verify again:\n  - create the missing rows",
  );
  expect(repaired.exitCode).toBe(1);
});

it("tells them to programs", async () => {
  await blog(["bob", "ada"], ["ada"]);
  const { exitCode, stdout } = await project.run(["verify", "--json"]);
  const { status, models } = JSON.parse(stdout).result;
  expect(status).toBe("damaged");
  expect(models[0]).toMatchObject({ model: "posts", counts: { missing: 0 } });
  expect(models[0].references).toEqual({
    relations: ["author"],
    rows: 2,
    danglingCount: 1,
    dangling: [
      {
        model: "posts",
        id: "p00",
        relation: "author",
        fields: ["authorId"],
        target: "users",
        targetId: "bob",
      },
    ],
  });
  expect(models[1].references).toBeUndefined();
  expect(exitCode).toBe(1);
});

it.each([
  { args: ["--no-references"] },
  { args: ["--index", "byAuthor"] },
  { args: ["--model", "users"] },
])("does not look at them with $args", async ({ args }) => {
  await blog(["bob"], []);
  const { exitCode, stdout } = await project.run(["verify", ...args]);
  expect(stdout).not.toContain("reference");
  expect(stdout).toContain("Clean. The indexes match the rows.\n");
  expect(exitCode).toBe(0);
});

it("reads no more rows in a second than it may, says how far it is, and stops", async () => {
  const Node = defineModel({
    name: "nodes",
    schema: z.object({ id: z.string(), root: z.string() }),
    primaryKey: "id",
    indexes: { byRoot: { key: "root" } },
    relations: { top: belongsTo("nodes", "root", { onDelete: "restrict" }) },
  });
  await using kv = await openKv();
  const db = await createDatabase({ kv, models: { nodes: Node } });
  for (const id of "abcdefghijkl") await db.nodes.create({ data: { id, root: "a" } });
  const models = [compileModel(Node)];
  const result = await verifyIndexes(db);
  const stopping = new AbortController();
  const told: unknown[] = [];
  const options = {
    rowsPerSecond: 20,
    signal: stopping.signal,
    onProgress: ({ model, phase, done, total }: MigrationProgress) =>
      told.push([model, phase, done, total]),
  };
  const startedAt = performance.now();
  const report = await verifyReferences(db, models, result, options);
  // The first ten of the twelve rows take half a second.
  expect(performance.now() - startedAt).toBeGreaterThan(490);
  expect(report).toMatchObject({ status: "clean", models: [{ references: { rows: 12 } }] });
  expect(told).toEqual([5, 10, 12].map((rows) => ["nodes", "verifying", rows, 12]));
  stopping.abort();
  const stopped = await verifyReferences(db, models, result, options);
  expect(stopped).toEqual({ status: "stopped", models: result.models });
});
