import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, defineModel } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    email: z.string(),
    nick: z.string(),
    deletedAt: z.date().nullable(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, where: { deletedAt: null } },
    byNick: { key: "nick", unique: true, where: (user) => user.deletedAt === null },
  },
});

const byEmail = "({ where: { email, deletedAt: null } })";
const byNick = '({ where: { nick }, index: "byNick" })';
const calls: [method: string, options: object, text: string][] = [
  [
    "findUnique",
    { where: { email: "a" } },
    `byEmail has only some of the rows; call findFirst${byEmail}`,
  ],
  ["findUnique", { where: { email: "a", deletedAt: null } }, `call findFirst${byEmail}`],
  ["findUniqueOrThrow", { where: { email: "a" } }, `call findFirstOrThrow${byEmail}`],
  ["findUnique", { where: { nick: "n" } }, `call findFirst${byNick}`],
  ["update", { where: { email: "a" }, data: { nick: "m" } }, `call updateMany${byEmail}`],
  ["delete", { where: { nick: "n" } }, `call deleteMany${byNick}`],
  [
    "upsert",
    { where: { email: "a" }, create: {}, update: {} },
    `in a transaction call findFirst${byEmail}, then update or create`,
  ],
];

it.each(calls)(
  "%s by the key of a partial unique index says which call finds the row",
  async (method, options, text) => {
    await using kv = await openKv();
    const db = await createDatabase({ kv, models: { users: User } });
    await db.users.create({ data: { id: "1", email: "a", nick: "n", deletedAt: null } });
    for (const on of [db.users, rowsOf(db, "users")]) {
      const called = (
        on as never as Record<string, ((options: object) => Promise<unknown>) | undefined>
      )[method];
      if (called === undefined) continue;
      await expect(called.call(on, options)).rejects.toMatchObject({
        code: "KW_QUERY_UNINDEXED",
        message: expect.stringContaining(`users.${method}: the unique index`),
      });
      await expect(called.call(on, options)).rejects.toThrow(text);
    }
  },
);

it("the suggested calls find, change and delete the row", async () => {
  await using kv = await openKv();
  const { users } = await createDatabase({ kv, models: { users: User } });
  await users.create({ data: { id: "1", email: "a", nick: "n", deletedAt: null } });
  const where = { email: "a", deletedAt: null };
  expect(await users.findFirst({ where })).toMatchObject({ id: "1" });
  expect(await users.updateMany({ where, data: { nick: "m" } })).toMatchObject({ count: 1 });
  expect(await users.findFirst({ where: { nick: "m" }, index: "byNick" })).toMatchObject({
    id: "1",
  });
  expect(await users.deleteMany({ where: { nick: "m" }, index: "byNick" })).toMatchObject({
    count: 1,
  });
});
