import { openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import { createProject, type Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

const config = `import { openKv } from "@keywright/core";
export default {
  models: "models/*.ts",
  output: "db",
  database: () => openKv(new URL("./data", import.meta.url).pathname),
};
`;

type Entries = readonly (readonly [
  key: readonly (string | number | Uint8Array)[],
  value: unknown,
])[];

async function projectWith(entries: Entries): Promise<void> {
  project = await createProject({ "keywright.config.ts": config });
  const kv = await openKv(project.path("data"));
  for (const [key, value] of entries) await kv.set(key as string[], value);
  await kv.close();
}

const bytes = (text: string) => new TextEncoder().encode(text);

it("writes models and indexes of the guide's layout, which verify finds complete", async () => {
  const rows = Array.from({ length: 12 }, (_, n) => ({
    id: `01H76YTWK3YBV020S6MP6000${String(n).padStart(2, "0")}`,
    email: n === 0 ? "Ada@Example.com" : `u${n}@example.com`,
    favoriteColor: n % 2 === 0 ? "red" : "blue",
    tags: n === 0 ? ["a", "b"] : ["a"],
    age: n,
    at: new Date(n),
    score: n / 2,
    nickname: n % 3 === 0 ? null : "x",
    badges: new Set(["first", n]),
    visits: new Map([["home", { count: n }]]),
    ...(n > 9 && { extra: { deep: [1, "two"] } }),
  }));
  await projectWith([
    ...rows.flatMap(
      (row): Entries => [
        [["users", row.id], row],
        [["users_by_email", row.email.toLowerCase()], row.id],
        [["users_by_favorite_color", row.favoriteColor, row.id], row.id],
        [["users_by_age_then_score", row.age, row.score, row.id], row],
        ...row.tags.map((tag): Entries[number] => [["users_by_tag", tag, row.id], row.id]),
      ],
    ),
    [["visits", "ada", 1], { user: "ada", n: 1, at: 5 }],
    [["settings"], "dark"],
  ]);
  const { exitCode, stdout } = await project.run(["introspect", "--out", "models/old.ts"]);
  expect(stdout).toBe(`models/old.ts was written from 63 entries:
  users  12 rows, 4 indexes
  visits  1 row, 0 indexes
  1 entry was not recognized; the file lists them
Check the definitions before you use them.
`);
  expect(exitCode).toBe(0);
  expect(await project.read("models/old.ts")).toMatchInlineSnapshot(`
    "// Inferred by \`keywright introspect\` from 63 entries. Check every
    // definition: data can only show what was stored, not what may be stored.
    // Not recognized: 1 entry under [] with one more part

    import { defineModel } from "@keywright/orm";
    import * as z from "zod";

    // Inferred from 12 entries under ["users"] with one more part.
    // extra: absent in 10 rows.
    export const User = defineModel({
      name: "users",
      schema: z.object({
        id: z.ulid(),
        email: z.string(),
        favoriteColor: z.string(),
        tags: z.array(z.string()),
        age: z.int(),
        at: z.date(),
        score: z.number(),
        nickname: z.string().nullable(),
        badges: z.set(z.union([z.int(), z.string()])),
        visits: z.map(z.string(), z.object({ count: z.int() })),
        extra: z.object({ deep: z.array(z.union([z.int(), z.string()])) }).optional(),
      }),
      primaryKey: "id",
      indexes: {
        // From 12 entries under ["users_by_age_then_score"].
        byAgeThenScore: { key: ["age", "score"], store: "copy" },
        // From 12 entries under ["users_by_email"].
        byEmail: { key: "email", unique: true, normalize: "lowercase" },
        // From 12 entries under ["users_by_favorite_color"].
        byFavoriteColor: { key: "favoriteColor" },
        // From 13 entries under ["users_by_tag"].
        byTag: { key: "tags", each: true },
      },
    });

    // Inferred from 1 entry under ["visits"] with 2 more parts.
    export const Visit = defineModel({
      name: "visits",
      schema: z.object({
        user: z.string(),
        n: z.int(),
        at: z.int(),
      }),
      primaryKey: ["user", "n"],
    });
    "
  `);
  const verified = await project.run(["verify"]);
  expect(verified.stdout).not.toContain("missing");
  expect(verified.exitCode).toBe(0);
});

it("recognizes kvdex, and writes the layout that adopt needs", async () => {
  await projectWith(
    ["1", "2"].flatMap((id): Entries => {
      const user = { username: `u${id}`, age: Number(id) };
      const base = ["__kvdex__", "users"];
      return [
        [[...base, "__id__", id], user],
        [[...base, "__index_primary__", "username", bytes(`"u${id}"`)], { ...user, __id__: id }],
        [[...base, "__index_secondary__", "age", bytes(id), id], user],
        [["__kvdex__", "__history__", "users", id, "01H"], { type: "write", value: user }],
      ];
    }),
  );
  expect((await project.run(["introspect", "--out", "models/old.ts"])).exitCode).toBe(0);
  expect(await project.read("models/old.ts")).toMatchInlineSnapshot(`
    "// Inferred by \`keywright introspect\` from 8 entries. Check every
    // definition: data can only show what was stored, not what may be stored.
    // Not recognized: 2 entries under ["__kvdex__", "__history__"] with 3 more parts

    import { defineModel } from "@keywright/orm";
    import { kvdexLayout } from "@keywright/orm/adopt";
    import * as z from "zod";

    // Inferred from 2 entries under ["__kvdex__", "users", "__id__"] with one more part, written by kvdex.
    export const User = defineModel({
      name: "users",
      schema: z.object({
        id: z.string(),
        username: z.string(),
        age: z.int(),
      }),
      primaryKey: "id",
      indexes: {
        // From 2 entries under ["__kvdex__", "users", "__index_primary__", "username"].
        byUsername: { key: "username", unique: true },
        // From 2 entries under ["__kvdex__", "users", "__index_secondary__", "age"].
        byAge: { key: "age" },
      },
    });

    // kvdex 3 and 4 store documents in the same way, and \`version: 4\` reads both.
    /** For \`adopt: { from, models: layouts }\` in keywright.config.ts. */
    export const layouts = {
      users: kvdexLayout({
        version: 4,
        collection: "users",
        indices: { username: "primary", age: "secondary" },
      }),
    };
    "
  `);
});

it("finds the condition of an index that has only some of the rows", async () => {
  const rows = Array.from({ length: 9 }, (_, n) => ({
    id: `t${n}`,
    title: `Title ${n}`,
    due: n === 8 ? null : n,
    tags: ["x", "y"],
    state: n < 4 ? "open" : "closed",
    isUrgent: n % 4 === 1,
    ...(n > 4 && { deletedAt: new Date(n) }),
  }));
  await projectWith([
    ...rows.flatMap((row): Entries => {
      const pointer = (index: string, part: string | number): Entries[number] => [
        [`tasks_by_${index}`, part, row.id],
        row.id,
      ];
      const { deletedAt } = row as { deletedAt?: Date };
      return [
        [["tasks", row.id], row],
        ...(row.due === null ? [] : [pointer("due", row.due)]),
        ...(deletedAt === undefined ? [pointer("title", row.title)] : []),
        ...(row.isUrgent ? [pointer("urgent", row.title)] : []),
        ...(row.state === "open" ? [pointer("open", row.title)] : []),
        ...(row.isUrgent ? row.tags.map((tag) => pointer("tag", tag)) : []),
        ...(row.id === "t3" || row.id === "t6" ? [pointer("chosen", row.title)] : []),
      ];
    }),
  ]);
  expect((await project.run(["introspect", "--out", "models/old.ts"])).exitCode).toBe(0);
  const text = await project.read("models/old.ts");
  expect(text.slice(text.indexOf("  indexes:"))).toMatchInlineSnapshot(`
    "  indexes: {
        // From 2 entries under ["tasks_by_chosen"].
        // 7 entries are missing for rows with these fields: add \`where\` if it is an index of some rows.
        byChosen: { key: "title" },
        // From 8 entries under ["tasks_by_due"].
        byDue: { key: "due" },
        // From 4 entries under ["tasks_by_open"].
        byOpen: { key: "title", where: { state: "open" } },
        // From 4 entries under ["tasks_by_tag"].
        byTag: { key: "tags", each: true, where: { isUrgent: true } },
        // From 5 entries under ["tasks_by_title"].
        byTitle: { key: "title", where: { deletedAt: null } },
        // From 2 entries under ["tasks_by_urgent"].
        byUrgent: { key: "title", where: { isUrgent: true } },
      },
    });
    "
  `);
  const verified = await project.run(["verify"]);
  expect(verified.stdout).toContain("7 missing");
  expect(verified.stdout).not.toContain("mismatched");
});

it("recognizes pentagon, and a primary key that the rows do not contain", async () => {
  const user = { id: "a", email: "a@b.cd", age: 3 };
  await projectWith([
    [["users", "a"], user],
    [["users_by_unique_email", "a@b.cd"], user],
    [["users_by_age", 3, "a"], user],
    [["logs", 7], { text: "x" }],
  ]);
  expect((await project.run(["introspect", "data", "--out", "models/old.ts"])).exitCode).toBe(0);
  expect(await project.read("models/old.ts")).toMatchInlineSnapshot(`
    "// Inferred by \`keywright introspect\` from 4 entries. Check every
    // definition: data can only show what was stored, not what may be stored.

    import { defineModel } from "@keywright/orm";
    import { pentagonLayout } from "@keywright/orm/adopt";
    import * as z from "zod";

    // Inferred from 1 entry under ["logs"] with one more part.
    // The rows do not contain id, only their keys do. Adopt them into another database, with guideLayout.
    export const Log = defineModel({
      name: "logs",
      schema: z.object({
        id: z.int(),
        text: z.string(),
      }),
      primaryKey: "id",
    });

    // Inferred from 1 entry under ["users"] with one more part, written by pentagon.
    export const User = defineModel({
      name: "users",
      schema: z.object({
        id: z.string(),
        email: z.string(),
        age: z.int(),
      }),
      primaryKey: "id",
      indexes: {
        // From 1 entry under ["users_by_age"].
        byAge: { key: "age" },
        // From 1 entry under ["users_by_unique_email"].
        byEmail: { key: "email", unique: true },
      },
    });

    /** For \`adopt: { from, models: layouts }\` in keywright.config.ts. */
    export const layouts = {
      users: pentagonLayout({ table: "users", indexes: { age: "index", email: "unique" } }),
    };
    "
  `);
});

it("replaces no file, changes no database, and writes nothing without models", async () => {
  await projectWith([[["users", "a"], { id: "a" }]]);
  await project.write({ "introspected.ts": "// mine" });
  const occupied = await project.run(["introspect"]);
  expect(occupied.stderr).toContain("KW_FILE_FAILED");
  expect(await project.read("introspected.ts")).toBe("// mine");
  await project.remove();
  await projectWith([[["settings"], "dark"]]);
  const none = await project.run(["introspect", "--json"]);
  expect(none.exitCode).toBe(1);
  expect(JSON.parse(none.stdout).result).toMatchObject({
    path: null,
    entries: 1,
    notRecognized: 1,
  });
});
