import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabase, type MigrationProgress, migrate } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { LaterUser, rejection, User, users } from "./user-model.js";
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

it("plans by the catalog that it commits under, whatever another call reads of it in between", async () => {
  const first = await createDatabase({ kv, models: { users: User } });
  const ada = await first.users.create({ data: { ...users.ada, age: 1 } });
  let build: () => Promise<void> = async () => undefined;
  const racing = interferingKv(
    kv,
    async () => undefined,
    async ([table]) => {
      if (table === "users_by_email") await build();
    },
  );
  const db = await createDatabase({ kv: racing, models: { users: LaterUser } });
  // The update reads whose the entry is that it removes; meanwhile the same program builds an
  // index.
  build = once(() => migrate(db));
  await db.users.update({ where: { id: ada.id }, data: { email: "new@example.com", age: 2 } });
  await expectIndexesToMatch(kv, LaterUser);
});

it("leaves no unique entry behind that a backfill writes while its row is deleted", async () => {
  const first = await createDatabase({ kv, models: { users: User } });
  const ada = await first.users.create({ data: users.ada });
  for (let i = 0; i < 600; i++) {
    await first.users.create({ data: { ...users.bob, name: `N${i}`, email: `b${i}@x.org` } });
  }
  const builder = await createDatabase({ kv, models: { users: LaterUser } });
  /**
   * Builds until so many rows are done: the catalog is then as it was, for the index is still being
   * built.
   */
  const buildUntil = async (rows: number) => {
    const stop = new AbortController();
    const onProgress = ({ phase, done }: MigrationProgress) => {
      if (phase === "building" && done >= rows) stop.abort();
    };
    expect((await migrate(builder, { onProgress, signal: stop.signal })).status).toBe("stopped");
  };
  await buildUntil(0);
  expect((await kv.get(["users_by_name", "Ada"])).value).toBeNull();
  // The delete finds no entry to remove; before its commit, the backfill writes it.
  const racing = interferingKv(
    kv,
    once(() => buildUntil(500)),
  );
  const deleter = await createDatabase({ kv: racing, models: { users: LaterUser } });
  await deleter.users.delete({ where: { id: ada.id } });
  expect((await kv.get(["users_by_name", "Ada"])).value).toBeNull();
  await migrate(builder);
  await expectIndexesToMatch(kv, LaterUser);
});

it("does not continue with another backfill's progress", async () => {
  const first = await createDatabase({ kv, models: { users: User } });
  for (let i = 0; i < 20; i++) {
    await first.users.create({
      data: { ...users.ada, name: `N${i}`, email: `a${i}@x.org`, age: i },
    });
  }
  const OneMore = { ...User, indexes: { ...User.indexes, byAge: LaterUser.indexes.byAge } };
  const early = once(async () => {
    // While the first run is about to write its batch, others take over, end that backfill and
    // begin the next.
    await kv.delete(["__keywright", "lease"]);
    await migrate(await createDatabase({ kv, models: { users: OneMore } }));
    const stopped = new AbortController();
    const onProgress = ({ phase }: MigrationProgress) => {
      if (phase === "building") stopped.abort();
    };
    const next = await createDatabase({ kv, models: { users: LaterUser } });
    await migrate(next, { onProgress, signal: stopped.signal });
  });
  let commits = 0;
  const racing = interferingKv(kv, async () => {
    if (++commits === 3) await early();
  });
  const slow = await createDatabase({ kv: racing, models: { users: OneMore } });
  expect((await migrate(slow)).status).toBe("lost");
  const later = await createDatabase({ kv, models: { users: LaterUser } });
  expect((await migrate(later)).status).toBe("done");
  await expectIndexesToMatch(kv, LaterUser);
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
});
