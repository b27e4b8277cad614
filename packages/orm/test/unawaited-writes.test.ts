import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, type Database, TransactionNotAwaitedError } from "../src/index.js";
import { rejection, User, users } from "./user-model.js";

type Users = Database<{ users: typeof User }>;

let kv: EmbeddedKv;
let db: Users;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { users: User } });
});
afterEach(() => kv.close());

const writes: Readonly<Record<string, (tx: Users) => Promise<unknown>>> = {
  create: (tx) => tx.users.create({ data: users.bob }),
  "createMany with atomic": (tx) => tx.users.createMany({ data: [users.bob], atomic: true }),
  deleteMany: (tx) => tx.users.deleteMany({ filter: () => true }),
  "create of a generated repository": (tx) => rowsOf(tx, "users").create({ data: users.bob }),
};

it.each(Object.entries(writes))(
  "a transaction that does not await %s writes nothing",
  async (_, write) => {
    let attempts = 0;
    const failed = db.transaction(async (tx) => {
      attempts++;
      await tx.users.create({ data: users.ada });
      void write(tx as Users);
    });
    expect(await rejection(failed)).toBeInstanceOf(TransactionNotAwaitedError);
    expect(attempts).toBe(1);
    expect((await db.users.findMany({ orderBy: { id: "asc" } })).items).toEqual([]);
  },
);

it("a write that has ended by itself need not be awaited", async () => {
  await db.transaction(async (tx) => {
    const write = tx.users.create({ data: users.ada });
    await tx.users.create({ data: users.bob });
    await write;
  });
  expect((await db.users.findMany({ orderBy: { id: "asc" } })).items).toHaveLength(2);
});
