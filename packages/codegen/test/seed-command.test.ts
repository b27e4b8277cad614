import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { contents } from "./players-project.js";
import type { Project } from "./project.js";
import { seedProject } from "./seed-project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

interface Entry {
  readonly key: readonly unknown[];
  readonly value: unknown;
}

/** The rows of a model, by the first part of their keys. */
async function rowsOf(prefix: string): Promise<Record<string, unknown>[]> {
  const entries = (await contents(project, [prefix])) as Entry[];
  return entries.map(({ value }) => value as Record<string, unknown>);
}

async function seed(...args: readonly string[]) {
  return await project.run(["seed", ...args]);
}

const distinct = (values: readonly unknown[]) => new Set(values).size;

describe("keywright seed", () => {
  it("creates rows with right references, unique keys and indexes", async () => {
    project = await seedProject();
    const { exitCode, stdout } = await seed("--rows", "60", "--seed", "42");
    expect(stdout).toContain("users      60 rows");
    expect(stdout).toContain("  --seed 42");
    expect(exitCode).toBe(0);
    const users = await rowsOf("users");
    const posts = await rowsOf("posts");
    expect([users.length, posts.length]).toEqual([60, 60]);
    expect(distinct(users.map(({ email }) => email))).toBe(60);
    expect(distinct(users.map(({ code }) => code))).toBe(60);
    expect(users.some(({ role }) => role === "admin")).toBe(true);
    for (const { createdAt, updatedAt } of users) {
      expect((updatedAt as Date) >= (createdAt as Date)).toBe(true);
    }
    expect(posts.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    expect(distinct(posts.map(({ authorId }) => authorId))).toBeGreaterThan(20);
    expect(posts.some(({ parentId }) => parentId !== null)).toBe(true);
    // Each user has one profile at most, and there are as many profiles as users.
    const profiles = await rowsOf("profiles");
    expect(new Set(profiles.map(({ userId }) => userId))).toEqual(
      new Set(users.map(({ id }) => id)),
    );
    expect((await rowsOf("post_tags")).length).toBe(60);
    const verified = await project.run(["verify"]);
    expect(verified.stdout).toContain("Clean.");
    expect(verified.exitCode).toBe(0);
  });

  it("repeats the rows exactly with the same seed", async () => {
    const args = ["--rows", "users=25,posts=20,tags=4,postTags=15", "--seed", "7"];
    const stored = async () => {
      const entries = (await contents(project)) as Entry[];
      return entries.flatMap(({ key, value }) => (key[0] === "__keywright" ? [] : [[key, value]]));
    };
    project = await seedProject();
    await seed(...args);
    const first = await stored();
    await rm(project.path("data"), { recursive: true });
    await seed(...args);
    const second = await stored();
    expect(first.length).toBeGreaterThan(80);
    expect(isDeepStrictEqual(first, second)).toBe(true);
    await rm(project.path("data"), { recursive: true });
    await seed(...args.slice(0, 3), "8");
    expect(isDeepStrictEqual(first, await stored())).toBe(false);
  });

  it("prints some rows in a dry run, which are those that it creates, and writes nothing", async () => {
    project = await seedProject();
    const args = ["--rows", "users=5,posts=4", "--seed", "3", "--json"];
    const dry = await seed(...args, "--dry-run");
    expect(existsSync(project.path("data"))).toBe(false);
    const done = await seed(...args);
    const [dryResult, result] = [JSON.parse(dry.stdout).result, JSON.parse(done.stdout).result];
    expect(dryResult).toMatchObject({ status: "done", seed: 3, dryRun: true });
    expect(dryResult.models.map(({ model, rows }: never) => [model, rows])).toEqual([
      ["users", 5],
      ["posts", 4],
    ]);
    expect(dryResult.models[0].sample).toHaveLength(3);
    expect(result.models).toEqual(dryResult.models);
    const shown = await seed("--rows", "tags=9", "--dry-run", "--append", "--seed", "3");
    expect(shown.stdout).toMatch(/^tags {2}9 rows to create\n(?: {2}\{"id":"[^\n]*\n){3}Nothing/);
    expect(await rowsOf("tags")).toEqual([]);
  });

  it("refuses a database that is not empty, and adds rows to it with --append", async () => {
    project = await seedProject();
    await seed("--rows", "users=5", "--seed", "1");
    const refused = await seed("--rows", "posts=5", "--seed", "1");
    expect(refused.stderr).toContain("KW_SEED_NOT_EMPTY");
    expect(refused.stderr).toContain("there are rows of users; add rows to them with --append");
    expect(refused.exitCode).toBe(1);
    expect(await rowsOf("posts")).toEqual([]);
    // The same seed generates the users again, which are there already.
    const added = await seed("--rows", "users=5,posts=8", "--seed", "1", "--append");
    expect([added.stderr, added.exitCode]).toEqual([expect.not.stringContaining("error"), 0]);
    await seed("--rows", "posts=2", "--append");
    const users = await rowsOf("users");
    const posts = await rowsOf("posts");
    expect([users.length, posts.length]).toEqual([10, 10]);
    const ids = users.map(({ id }) => id);
    expect(posts.every(({ authorId }) => ids.includes(authorId))).toBe(true);
    expect(posts.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
    expect((await project.run(["verify"])).exitCode).toBe(0);
  });

  it("fills fields as the configuration says, and runs its function", async () => {
    project = await seedProject(`seed: {
      rows: { users: 3, posts: 2 },
      models: {
        users: {
          role: "admin",
          name: ({ index }) => \`User \${index}\`,
          email: async ({ row, faker }) => \`\${row.code}.\${faker.string.numeric(3)}@example.com\`,
        },
      },
      run: async ({ db, seed }) => {
        await db.tags.create({ data: { id: "own", name: \`of \${seed}\` } });
      },
    },`);
    const { exitCode } = await seed("--seed", "5");
    expect(exitCode).toBe(0);
    const users = await rowsOf("users");
    expect(users.map(({ name }) => name).sort()).toEqual(["User 0", "User 1", "User 2"]);
    for (const { role, email, code } of users) {
      expect(role).toBe("admin");
      expect(email).toMatch(new RegExp(`^${String(code)}\\.\\d{3}@example\\.com$`));
    }
    expect(await rowsOf("tags")).toEqual([{ id: "own", name: "of 5" }]);
    expect((await rowsOf("posts")).length).toBe(2);
  });

  it("runs a function instead of generating rows", async () => {
    project = await seedProject(`seed: async ({ db, faker }) => {
      await db.tags.create({ data: { id: "a", name: faker.lorem.word() } });
    },`);
    expect((await seed("--seed", "1")).exitCode).toBe(0);
    expect((await rowsOf("tags")).length).toBe(1);
    expect(await rowsOf("users")).toEqual([]);
  });

  it("says which field it cannot fill, and how to fill it", async () => {
    const models = `import { defineModel } from "@keywright/orm";
import * as z from "zod";
export const Thing = defineModel({
  name: "things",
  schema: z.object({
    id: z.int(),
    part: z.object({ mark: z.string().refine((mark) => mark === "the mark", "not the mark") }),
    a: z.int(),
    b: z.int(),
  }).refine(({ a, b }) => a - b === 123456, "a is 123456 more than b"),
  primaryKey: "id",
});
`;
    project = await seedProject("", models);
    const first = await seed("--rows", "2");
    expect(first.stderr).toContain(
      "KW_SEED_FIELD: things.part.mark: no value can be generated: none of 200 generated values passed: not the mark; set it in `seed.models.things.part`",
    );
    expect(first.exitCode).toBe(1);
    const settings = (more: string) => `export default {
  models: "models/*.ts",
  output: "db",
  database: "data",
  seed: { models: { things: { part: { mark: "the mark" }, ${more} } } },
};
`;
    await project.write({ "keywright.config.ts": settings("") });
    const second = await seed("--rows", "2");
    expect(second.stderr).toContain("a is 123456 more than b; set the fields that it compares");
    await project.write({ "keywright.config.ts": settings("a: ({ row }) => row.b + 123456") });
    expect((await seed("--rows", "2")).exitCode).toBe(0);
    expect((await rowsOf("things")).length).toBe(2);
  });

  it("creates what fits if values run out, and fails if they were asked for", async () => {
    const models = `import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";
export const Level = defineModel({
  name: "levels",
  schema: z.object({ id: z.enum(["low", "high"]), name: z.string() }),
  primaryKey: "id",
});
export const Pair = defineModel({
  name: "pairs",
  schema: z.object({ first: z.string(), second: z.string() }),
  primaryKey: ["first", "second"],
  indexes: { bySecond: { key: "second" } },
  relations: { one: belongsTo("levels", "first"), two: belongsTo("levels", "second") },
});
`;
    project = await seedProject("", models);
    const all = await seed("--rows", "10", "--seed", "1");
    expect(all.stdout).toContain(
      "levels  2 rows of 10: there are no more values for the primary key",
    );
    expect(all.stdout).toContain("pairs   4 rows of 10");
    expect(all.exitCode).toBe(0);
    const more = await seed("--rows", "levels=1", "--append");
    expect(more.stderr).toContain(
      "KW_SEED_UNIQUE: levels: no value is left for its primary key after 0 of 1 rows",
    );
    expect(more.exitCode).toBe(1);
  });

  it("says which rows are missing for a reference", async () => {
    project = await seedProject();
    const { stderr, exitCode } = await seed("--rows", "posts=5");
    expect(stderr).toContain(
      "KW_SEED_REFERENCE: posts.authorId: there is no row of users to refer to; also generate rows of it, as in `--rows users=10`",
    );
    expect(exitCode).toBe(1);
  });

  it("refers to rows with the same tenant, if the references of a row share that field", async () => {
    const models = `import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";
const tenant = z.string();
const primaryKey = ["tenant", "id"] as const;
const schema = z.object({ tenant, id: z.string() });
export const User = defineModel({ name: "users", schema, primaryKey });
export const Team = defineModel({ name: "teams", schema, primaryKey });
export const Member = defineModel({
  name: "members",
  schema: z.object({ tenant, user: z.string(), team: z.string() }),
  primaryKey: ["tenant", "user", "team"],
  indexes: { byTeam: { key: ["tenant", "team"] } },
  relations: {
    ofUser: belongsTo("users", ["tenant", "user"]),
    ofTeam: belongsTo("teams", ["tenant", "team"]),
  },
});
`;
    const tenants = "{ tenant: ({ index }) => (index % 2 === 0 ? 'a' : 'b') }";
    const own = `{ users: ${tenants}, teams: ${tenants} }`;
    project = await seedProject(`seed: { models: ${own} }`, models);
    expect(await seed("--rows", "8")).toMatchObject({ exitCode: 0 });
    const members = await rowsOf("members");
    expect(new Set(members.map((row) => row.tenant))).toEqual(new Set(["a", "b"]));
    expect(members.length).toBe(8);
    await project.remove();
    project = await seedProject("", models);
    const { stderr, exitCode } = await seed("--rows", "5");
    expect(stderr).toContain("KW_SEED_REFERENCE: members.tenant, team: no row of teams has");
    expect(exitCode).toBe(1);
    // Nothing was written before the fault was found.
    expect(await rowsOf("users")).toEqual([]);
  });

  it("fills models that refer to each other, if one of them may do without", async () => {
    const models = (owner: string) => `import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";
const id = z.int();
export const Team = defineModel({
  name: "teams",
  schema: z.object({ id, ownerId: ${owner} }),
  primaryKey: "id",
  indexes: { byOwner: { key: "ownerId" } },
  relations: { owner: belongsTo("people", "ownerId") },
});
export const Person = defineModel({
  name: "people",
  schema: z.object({ id, teamId: z.int() }),
  primaryKey: "id",
  indexes: { byTeam: { key: "teamId" } },
  relations: { team: belongsTo("teams", "teamId") },
});
`;
    project = await seedProject("", models("z.int().optional()"));
    expect((await seed("--rows", "5")).exitCode).toBe(0);
    expect((await rowsOf("people")).length).toBe(5);
    await project.remove();
    project = await seedProject("", models("z.int()"));
    const { stderr } = await seed("--rows", "5");
    expect(stderr).toContain("KW_SEED_REFERENCE");
    expect(stderr).toContain("make one of the references optional");
  });

  it("refuses wrong usage and settings", async () => {
    project = await seedProject();
    const cases: readonly (readonly [readonly string[], string])[] = [
      [["--rows", "many"], "Write a number, or numbers by model"],
      [["--rows", "users=1,users=2"], "Write a number, or numbers by model"],
      [["--rows", "user=1"], "there is no model user: choose from postTags, posts"],
      [["--seed", "x"], "It must be a whole number"],
    ];
    for (const [args, message] of cases) {
      const { stderr, exitCode } = await seed(...args);
      expect(stderr).toContain(message);
      expect(exitCode).toBe(2);
    }
    const settings: readonly (readonly [string, string])[] = [
      ["seed: 5,", "seed: it is neither an object nor a function"],
      ["seed: { row: 5 },", "seed.row: there is no such setting"],
      ["seed: { rows: { users: -1 } },", "seed.rows.users: it is not a whole number of rows"],
      ["seed: { rows: { user: 1 } },", "seed.rows.user: there is no model user"],
      ["seed: { models: { user: {} } },", "seed.models.user: there is no model user"],
      ["seed: { models: { users: { nam: 1 } } },", "seed.models.users.nam: there is no field nam"],
      ["seed: { models: { users: 1 } },", "seed.models.users: it is not an object of fields"],
      ["seed: { run: 1 },", "seed.run: it is not a function"],
    ];
    const text = await project.read("keywright.config.ts");
    for (const [setting, message] of settings) {
      await project.write({
        "keywright.config.ts": text.replace("database:", `${setting} database:`),
      });
      const { stderr, exitCode } = await seed();
      expect(stderr).toContain(message);
      expect(exitCode).toBe(1);
    }
  });

  it("names the command that installs missing packages", async () => {
    project = await seedProject();
    const folder = project.path("elsewhere");
    await project.write({ "elsewhere/package.json": "{}" });
    const { loadFakes } = await import("../src/seed/values/load-fakes.js");
    await expect(loadFakes(folder.replace(/[^/\\]+$/, "../../nowhere"), 1)).rejects.toMatchObject({
      code: "KW_SEED_PACKAGES",
      message: expect.stringContaining("npm install --save-dev @faker-js/faker randexp"),
    });
  });

  it("keeps the lines of rows within the width of a terminal", async () => {
    project = await seedProject();
    for (const columns of [60, 120]) {
      const args = ["seed", "--rows", "users=3", "--seed", "1", "--dry-run"];
      const { stdout } = await project.run(args, columns);
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
      expect(stdout.split("\n").filter((line) => line.startsWith("  {"))).toHaveLength(3);
    }
  });
});
