import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** Runs a function the first time that it is called. */
function once(run: () => Promise<unknown>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await run();
  };
}

it("finds who has a unique value now when it moves between the read of the pointer and of the row", async () => {
  const db = await createDatabase({ kv, models: { users: User } });
  const ada = await db.users.create({ data: users.ada });
  const bob = await db.users.create({ data: users.bob });
  const move = once(async () => {
    await db.users.update({ where: { id: ada.id }, data: { email: "other@example.com" } });
    await db.users.update({ where: { id: bob.id }, data: { email: "ada@example.com" } });
  });
  const racing = interferingKv(
    kv,
    async () => undefined,
    async ([table]) => {
      if (table === "users") await move();
    },
  );
  const reader = await createDatabase({ kv: racing, models: { users: User } });
  const found = await reader.users.findUnique({ where: { email: "ada@example.com" } });
  expect(found?.id).toBe(bob.id);
});

it("does not take a unique value over from a row that gets it at the last moment", async () => {
  const db = await createDatabase({ kv, models: { users: User } });
  const ada = await db.users.create({ data: users.ada });
  // An entry without a row that has its key: what a mistake of code by hand leaves behind.
  await kv.set(["users_by_email", "bob@example.com"], ada.id);
  let commits = 0;
  const racing = interferingKv(kv, async () => {
    // The second commit is the one that takes the value over.
    if (++commits === 2) await kv.set(["users", ada.id], { ...ada, email: "bob@example.com" });
  });
  const writer = await createDatabase({ kv: racing, models: { users: User } });
  const error = await rejection(writer.users.create({ data: users.bob }));
  expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", ownerId: ada.id });
});

it("plans an update anew when another changes the row before its commit", async () => {
  const db = await createDatabase({ kv, models: { users: User } });
  const ada = await db.users.create({ data: users.ada });
  const where = { id: ada.id };
  const change = once(() =>
    db.users.update({ where, data: { favoriteColor: "red", email: "new@example.com" } }),
  );
  const writer = await createDatabase({ kv: interferingKv(kv, change), models: { users: User } });
  const updated = await writer.users.update({
    where,
    data: { name: "Ada L.", favoriteColor: "blue" },
  });
  expect(updated).toEqual({
    ...ada,
    name: "Ada L.",
    favoriteColor: "blue",
    email: "new@example.com",
  });
  await expectIndexesToMatch(kv, User);
});

it("gives up on a row that never stays the same, and says so", async () => {
  const db = await createDatabase({ kv, models: { users: User } });
  const ada = await db.users.create({ data: users.ada });
  const where = { id: ada.id };
  let turn = 0;
  const change = () => db.users.update({ where, data: { age: turn++ } }).then(() => undefined);
  const writer = await createDatabase({ kv: interferingKv(kv, change), models: { users: User } });
  expect(await rejection(writer.users.update({ where, data: { name: "Ada L." } }))).toMatchObject({
    code: "KW_VERSION_CONFLICT",
    id: ada.id,
    retryable: true,
  });
  expect((await db.users.findUnique({ where }))?.name).toBe("Ada");
}, 20_000);
