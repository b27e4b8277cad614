import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    email: z.string(),
    team: z.string(),
    tags: z.array(z.string()),
    closedAt: z.number().nullable(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byTeam: { key: "team" },
    byTag: { key: "tags", each: true },
    byOpen: { key: "team", where: { closedAt: null } },
  },
});

async function open() {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { users: User } });
  const user = (id: string, team: string) => ({
    id,
    team,
    email: `${id}@example.com`,
    tags: [team],
    closedAt: null,
  });
  await db.users.createMany({ data: [user("a", "red"), user("b", "blue")] });
  return { kv, db };
}

it("equals finds the same rows as the value alone, in every call", async () => {
  const { kv, db } = await open();
  try {
    const where = { team: { equals: "red" } };
    expect((await db.users.findMany({ where })).items.map(({ id }) => id)).toEqual(["a"]);
    expect((await db.users.findFirst({ where }))?.id).toBe("a");
    expect(await db.users.count({ where })).toBe(1);
    expect(await db.users.exists({ where })).toBe(true);
    expect(await db.users.count({ where: { tags: { has: { equals: "red" } } } })).toBe(1);
    expect(await db.users.count({ where: { OR: [where, { team: { equals: "blue" } }] } })).toBe(2);
    const open = { team: { equals: "red" }, closedAt: null };
    expect(await db.users.count({ where: open })).toBe(1);
    const found = await db.users.findUnique({ where: { email: { equals: "A@EXAMPLE.com" } } });
    expect(found?.id).toBe("a");
    await db.users.update({ where: { id: { equals: "a" } }, data: { email: { set: "new" } } });
    expect((await db.users.findUnique({ where: { id: { equals: "a" } } }))?.email).toBe("new");
    await db.transaction(async (tx) => {
      expect(await tx.users.count({ where })).toBe(1);
      await tx.users.delete({ where: { id: { equals: "b" } } });
    });
    await db.users.deleteMany({ where });
    expect((await db.users.scan({})).items).toEqual([]);
  } finally {
    await kv.close();
  }
});

it("a value of equals is never read as a condition", async () => {
  const { kv, db } = await open();
  try {
    const inputs: unknown[] = [
      { gt: "" },
      { in: ["red"] },
      { equals: "red" },
      { startsWith: "" },
      {},
      [],
      undefined,
      null,
    ];
    for (const input of inputs) {
      const where = { team: { equals: input as string } };
      const refused = { code: "KW_QUERY_INVALID" };
      await expect(db.users.findMany({ where })).rejects.toMatchObject(refused);
      await expect(db.users.findFirst({ where })).rejects.toMatchObject(refused);
      await expect(db.users.count({ where })).rejects.toMatchObject(refused);
      await expect(db.users.exists({ where })).rejects.toMatchObject(refused);
      await expect(db.users.deleteMany({ where })).rejects.toMatchObject(refused);
      const one = { where: { id: { equals: input as string } } };
      await expect(db.users.findUnique(one)).rejects.toMatchObject(refused);
    }
    expect((await db.users.scan({})).items).toHaveLength(2);
    const both = { team: { equals: "red", gt: "" } };
    await expect(db.users.findMany({ where: both as never })).rejects.toThrow(
      "equals must be the only condition of the field",
    );
  } finally {
    await kv.close();
  }
});
