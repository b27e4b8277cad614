import { type Kv, KvU64, openKv } from "@keywright/core";
import { expect } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, desc } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";

const definition = {
  name: "users",
  schema: z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    color: z.string(),
    tags: z.array(z.string()),
    age: z.number().optional(),
  }),
  count: true,
  live: true,
  indexes: {
    byName: { key: "name", unique: true, normalize: (v: string) => v.toLowerCase() },
    byColor: { key: "color", count: true },
    byTag: { key: "tags", each: true },
    byAge: { key: [desc("age"), "color"], store: "copy" },
    withName: { key: "color", include: ["email", "name"], prefix: "colors" },
    green: { key: "age", where: { color: "green" } },
  },
} as const;

/** The same model by its earlier and by its new primary key. */
const UserById = defineModel({ ...definition, primaryKey: "id" });
const UserByEmail = defineModel({ ...definition, primaryKey: "email" });

export type User = z.infer<typeof definition.schema>;

export const openById = (kv: Kv) => createDatabase({ kv, models: { users: UserById } });
export const openByEmail = (kv: Kv) => createDatabase({ kv, models: { users: UserByEmail } });

export function userOf(n: number): User {
  return {
    id: `u${n}`,
    email: `${(n * 7) % 100}@example.com`,
    name: `Name ${n}`,
    color: ["red", "green", "blue"][n % 3] ?? "",
    tags: n % 4 === 0 ? ["even", `t${n}`] : [],
    ...(n % 5 === 0 ? {} : { age: n % 7 }),
  };
}

export async function fill(kv: Kv, count: number): Promise<User[]> {
  const rows = Array.from({ length: count }, (_, n) => userOf(n));
  const db = await openById(kv);
  await db.users.createMany({ data: rows });
  return rows;
}

/** What a program finds by each way of reading, in one order. */
export async function readAll(
  db: Awaited<ReturnType<typeof openById>> | Awaited<ReturnType<typeof openByEmail>>,
): Promise<unknown> {
  const users = db.users as Awaited<ReturnType<typeof openById>>["users"];
  const byColor: User[] = [];
  for (const color of ["red", "green", "blue"]) {
    byColor.push(...(await users.findMany({ where: { color } })).items);
  }
  return {
    scanned: sorted((await users.scan()).items),
    byColor: sorted(byColor),
    byAge: sorted((await users.findMany({ where: { age: { gte: 0 } } })).items),
    byTag: sorted((await users.findMany({ where: { tags: { has: "even" } } })).items),
    count: await users.count(),
  };
}

/** What {@link readAll} has to find. */
export function found(rows: readonly User[]): unknown {
  return {
    scanned: sorted(rows),
    byColor: sorted(rows),
    byAge: sorted(rows.filter(({ age }) => age !== undefined)),
    byTag: sorted(rows.filter(({ tags }) => tags.includes("even"))),
    count: rows.length,
  };
}

function sorted(rows: readonly User[]): User[] {
  return [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Expects a database to hold what one holds whose rows had the key from the beginning: the same
 * rows and entries, but for their places, and nothing else.
 */
export async function expectFresh(
  kv: Kv,
  rows: readonly User[],
  open: typeof openById | typeof openByEmail = openByEmail,
): Promise<void> {
  const fresh = await openKv();
  try {
    const expected = await (open as typeof openById)(fresh);
    await expected.users.createMany({ data: rows });
    expect(await contentOf(kv)).toEqual(await contentOf(fresh));
    expect((await verifyIndexes(await open(kv))).status).toBe("clean");
  } finally {
    await fresh.close();
  }
}

/** All entries of a database except its catalog, by their keys without the places. */
export async function contentOf(kv: Kv): Promise<Record<string, unknown>> {
  const content: Record<string, unknown> = {};
  for await (const { key, value } of kv.list({ prefix: [] })) {
    const [first, ...others] = key;
    if (
      first === "__keywright" &&
      ["catalog", "schema", "lease", "changes"].includes(String(key[1]))
    )
      continue;
    if (value instanceof KvU64 && value.value === 0n) continue;
    const declared = typeof first === "string" ? first.replace(/ \(.*\)( \d+)?$/, "") : first;
    content[JSON.stringify([declared, ...others])] = value;
  }
  return content;
}
