import { type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, desc, migrate, verifyIndexes } from "../src/index.js";

const definition = {
  name: "users",
  schema: z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    color: z.string(),
    tags: z.array(z.string()).default([]),
    age: z.number().optional(),
  }),
  count: true,
  indexes: {
    byName: { key: "name", unique: true, normalize: (v: string) => v.toLowerCase() },
    byColor: { key: "color", count: true },
    byTag: { key: "tags", each: true },
    byAge: { key: [desc("age"), "color"], store: "copy" },
    withName: { key: "color", include: ["name"], prefix: "colors" },
  },
} as const;
const ById = defineModel({ ...definition, primaryKey: "id" });
const ByEmail = defineModel({ ...definition, primaryKey: "email" });

const openById = (kv: Kv) => createDatabase({ kv, models: { users: ById } });
const openByEmail = (kv: Kv) => createDatabase({ kv, models: { users: ByEmail } });

const rowOf = (n: number) => ({
  id: `u${n}`,
  email: `${(n * 7) % 100}@example.com`,
  name: `Name ${n}`,
  color: ["red", "green", "blue"][n % 3] ?? "",
  tags: n % 4 === 0 ? ["even", `t${n}`] : [],
  ...(n % 5 === 0 ? {} : { age: n % 7 }),
});

async function allKeys(kv: Kv): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of kv.list({ prefix: [] })) keys.push(JSON.stringify(key));
  return keys;
}

it("changes the primary key", async () => {
  const kv = await openKv();
  try {
    const before = await openById(kv);
    const rows = Array.from({ length: 60 }, (_, n) => rowOf(n));
    await before.users.createMany({ data: rows });
    const db = await openByEmail(kv);
    const { status, plan, unindexed } = await migrate(db, { accept: true });
    expect({ status, unindexed }).toEqual({ status: "done", unindexed: [] });
    expect(plan.steps.map(({ id }) => id)).toEqual(["users.email: change-primary-key"]);
    expect(await db.users.findUnique({ where: { email: "7@example.com" } })).toEqual(rowOf(1));
    expect(await db.users.count()).toBe(60);
    const result = await verifyIndexes(db);
    expect(result).toMatchObject({ status: "done" });
    console.log(JSON.stringify(result), JSON.stringify((await kv.get(["__keywright", "catalog", "users"])).value, null, 1));
    expect((await allKeys(kv)).filter((key) => key.includes("u1\"") ).length).toBe(0);
  } finally {
    await kv.close();
  }
});
