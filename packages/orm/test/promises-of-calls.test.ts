import { createHook } from "node:async_hooks";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.string(), visits: z.int() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true } },
});

const user = (id: string) => ({ id, email: `${id}@example.com`, visits: 0 });

const calls = 100;

/** Returns how many promises a call makes, on average. */
async function promisesOf(call: (n: number) => Promise<unknown>): Promise<number> {
  // The catalog is read again every now and then.
  await call(0);
  let promises = 0;
  const hook = createHook({
    init(_, type) {
      if (type === "PROMISE") promises++;
    },
  }).enable();
  try {
    for (let n = 1; n <= calls; n++) await call(n);
  } finally {
    hook.disable();
  }
  return promises / calls;
}

/** A promise takes longer than most of what happens between two of them. */
it("a call makes few promises", async () => {
  await using kv = await openKv();
  const db = await createDatabase({ kv, models: { users: User } });
  await db.users.create({ data: user("a") });
  await db.users.create({ data: user("b") });
  const where = { id: "a" };
  const counts = {
    findUnique: await promisesOf(() => db.users.findUnique({ where })),
    create: await promisesOf((n) => db.users.create({ data: user(`c${n}`) })),
    update: await promisesOf((visits) => db.users.update({ where, data: { visits } })),
    transaction: await promisesOf((visits) =>
      db.transaction(async (tx) => {
        await tx.users.findUnique({ where });
        await tx.users.findUnique({ where: { id: "b" } });
        await tx.users.update({ where, data: { visits } });
      }),
    ),
  };
  expect(counts.findUnique).toBeLessThan(9);
  expect(counts.create).toBeLessThan(38);
  expect(counts.update).toBeLessThan(44);
  expect(counts.transaction).toBeLessThan(104);
});
