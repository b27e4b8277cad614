import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { entriesOf, rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const where = { email: "ada@example.com" };
const open = (on = kv as Parameters<typeof interferingKv>[0]) =>
  createDatabase({ kv: on, models: { users: User } });

/** Runs a function the first time that it is called. */
function once(run: () => Promise<unknown>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await run();
  };
}

it("creates the row where there is none, and changes it where there is", async () => {
  const db = await open();
  const created = await db.users.upsert({ where, create: users.ada, update: { age: 1 } });
  expect(created).toEqual({ id: created.id, ...users.ada });
  const changed = await db.users.upsert({ where, create: users.ada, update: { age: 1 } });
  expect(changed).toEqual({ ...created, age: 1 });
  await expectIndexesToMatch(kv, User);
});

it("changes the row that another creates meanwhile", async () => {
  const db = await open();
  const early = once(() => db.users.create({ data: users.ada }));
  const racing = await open(interferingKv(kv, early));
  const row = await racing.users.upsert({ where, create: users.ada, update: { age: 1 } });
  expect(row).toMatchObject({ name: "Ada", age: 1 });
  expect(await entriesOf(kv)).toHaveLength(3);
});

it("creates the row that another deletes meanwhile", async () => {
  const db = await open();
  const ada = await db.users.create({ data: users.ada });
  const gone = once(() => db.users.delete({ where }));
  const racing = await open(interferingKv(kv, gone));
  const row = await racing.users.upsert({
    where,
    create: { ...users.ada, name: "New" },
    update: { age: 1 },
  });
  expect(row.name).toBe("New");
  expect(row.id).not.toBe(ada.id);
  await expectIndexesToMatch(kv, User);
});

it("creates the row where the one in its way goes before the next look", async () => {
  const db = await open();
  const appear = once(() => db.users.create({ data: users.ada }));
  let looks = 0;
  // It is there at the commit, and gone when the row is looked for again.
  const racing = interferingKv(kv, appear, async ([table]) => {
    if (table === "users_by_email" && ++looks === 3) await db.users.delete({ where });
  });
  const row = await (await open(racing)).users.upsert({
    where,
    create: { ...users.ada, name: "New" },
    update: { age: 1 },
  });
  expect(looks).toBeGreaterThan(2);
  expect(row).toMatchObject({ name: "New" });
  expect(row).not.toHaveProperty("age");
});

it("makes one row of many calls at once, and loses no change", async () => {
  const db = await open();
  const calls = Array.from({ length: 20 }, () =>
    db.users.upsert({ where, create: { ...users.ada, age: 1 }, update: { age: { increment: 1 } } }),
  );
  const rows = await Promise.all(calls);
  expect(new Set(rows.map((row) => row.id)).size).toBe(1);
  expect(await db.users.findUnique({ where })).toMatchObject({ age: 20 });
});

it("refuses a row whose other unique value is taken, and changes nothing", async () => {
  const db = await open();
  const bob = await db.users.create({ data: users.bob });
  const before = await entriesOf(kv);
  const id = "01H76YTWK3YBV020S6MP69TBEQ";
  const error = await rejection(
    db.users.upsert({ where: { id }, create: { ...users.bob, id }, update: {} }),
  );
  expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byEmail", ownerId: bob.id });
  expect(await entriesOf(kv)).toEqual(before);
});

it("creates what `where` would not find, and says so at the second time", async () => {
  const db = await open();
  const call = () => db.users.upsert({ where, create: users.bob, update: {} });
  expect(await call()).toMatchObject({ name: "Bob" });
  expect(await rejection(call())).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byEmail" });
});

it("changes only the version that it is told to, and creates the row whatever it is told", async () => {
  const db = await open();
  const ifVersion = "00000000000000000000";
  const call = () => db.users.upsert({ where, create: users.ada, update: { age: 1 }, ifVersion });
  await call();
  expect(await rejection(call())).toMatchObject({ code: "KW_VERSION_CONFLICT", attempts: 1 });
});

it("works within a transaction, on what that has written", async () => {
  const db = await open();
  await db.transaction(async (tx) => {
    const call = () =>
      tx.users.upsert({
        where,
        create: { ...users.ada, age: 1 },
        update: { age: { increment: 1 } },
      });
    await Promise.all([call(), call(), call()]);
  });
  expect(await db.users.findUnique({ where })).toMatchObject({ age: 3 });
  await expectIndexesToMatch(kv, User);
});
