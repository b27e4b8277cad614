import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, type MigrationProgress, migrate } from "../src/index.js";
import { Crash, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";
import { LaterUser, rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** Fills the table with rows as the program wrote them before it had the later indexes. */
async function fill(count: number): Promise<void> {
  const db = await createDatabase({ kv, models: { users: User } });
  const rows = Array.from({ length: count }, (_, i) => ({
    name: `Name ${i}`,
    email: `a${i}@example.com`,
    favoriteColor: "green",
    ...(i % 3 === 0 ? {} : { age: i % 50 }),
  }));
  await Promise.all(rows.map((data) => db.users.create({ data })));
}

const openLater = (on: Kv = kv) => createDatabase({ kv: on, models: { users: LaterUser } });

describe("migrate", () => {
  it("builds the new indexes in one scan, reports its progress, and makes them readable", async () => {
    await fill(1200);
    const db = await openLater();
    const query = { where: { age: { gte: 10, lt: 12 } } };
    expect((await rejection(db.users.findMany(query))).code).toBe("KW_INDEX_NOT_READY");
    const progress: MigrationProgress[] = [];
    const result = await migrate(db, { onProgress: (report) => progress.push(report) });
    expect(result).toEqual({
      status: "done",
      indexes: ["byAge", "byName"].map((index) => ({
        model: "users",
        index,
        state: "readable",
        duplicates: [],
      })),
    });
    await expectIndexesToMatch(kv, LaterUser);
    const ages = (await db.users.findMany(query)).items.map((row) => row.age);
    expect(ages).toEqual([...Array(16).fill(10), ...Array(16).fill(11)]);
    expect(progress.map(({ phase, rowsDone, rowsTotal }) => [phase, rowsDone, rowsTotal])).toEqual([
      ["counting", 1200, 1200],
      ["building", 0, 1200],
      ["building", 500, 1200],
      ["building", 1000, 1200],
      ["building", 1200, 1200],
    ]);
    expect(progress.at(-1)).toMatchObject({ indexes: ["byAge", "byName"], secondsLeft: 0 });
    expect(progress.at(-1)?.rowsPerSecond).toBeGreaterThan(0);
  });

  it("passes over what stands under a row's key", async () => {
    await fill(3);
    const db = await openLater();
    const { items } = await db.users.findMany({ where: { favoriteColor: "green" } });
    await kv.set(["users", items[0]!.id, "settings"], { name: "no row", age: 1 });
    await migrate(db);
    await kv.delete(["users", items[0]!.id, "settings"]);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("has nothing to do a second time, and leaves nothing of its state behind", async () => {
    await fill(10);
    const db = await openLater();
    await migrate(db);
    expect(await migrate(db)).toEqual({ status: "done", indexes: [] });
    const own = [];
    for await (const { key } of kv.list({ prefix: ["__keywright"] })) own.push(key);
    expect(own).toEqual([["__keywright", "catalog", "users"]]);
  });

  it.each(["before", "after"] as const)(
    "goes on after a crash %s any of its commits",
    async (moment) => {
      await fill(1100);
      for (let at = 1; ; at++) {
        const db = await openLater(crashingKv(kv, at, moment));
        const run = await migrate(db).catch((error: unknown) => error);
        if (!(run instanceof Crash)) {
          expect(at).toBeGreaterThan(1);
          break;
        }
      }
      await expectIndexesToMatch(kv, LaterUser);
      const done = await migrate(await openLater());
      expect(done.status).toBe("done");
    },
  );

  it("resumes behind the last batch rather than from the start", async () => {
    await fill(1100);
    await rejection(migrate(await openLater(crashingKv(kv, 3, "after"))));
    const progress: MigrationProgress[] = [];
    await migrate(await openLater(), { onProgress: (report) => progress.push(report) });
    expect(progress[0]).toMatchObject({ phase: "building", rowsDone: 1000, rowsTotal: 1100 });
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("stops after the batch in hand when it is told to, and goes on there", async () => {
    await fill(1100);
    const controller = new AbortController();
    const onProgress = ({ rowsDone }: MigrationProgress) => {
      if (rowsDone === 500) controller.abort();
    };
    const db = await openLater();
    const stopped = await migrate(db, { onProgress, signal: controller.signal });
    expect(stopped.status).toBe("stopped");
    expect(stopped.indexes.map(({ state }) => state)).toEqual(["write-only", "write-only"]);
    expect((await rejection(db.users.findMany({ where: { age: 1 } }))).state).toBe("write-only");
    expect((await migrate(db)).status).toBe("done");
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("lets timers run, so that a signal is heard", async () => {
    await fill(2000);
    const stop = new AbortController();
    let ticks = 0;
    const tick = () => {
      if (++ticks === 3) stop.abort();
      else setTimeout(tick, 0);
    };
    setTimeout(tick, 0);
    expect((await migrate(await openLater(), { signal: stop.signal })).status).toBe("stopped");
    expect(ticks).toBe(3);
    expect((await migrate(await openLater())).status).toBe("done");
    await expectIndexesToMatch(kv, LaterUser);
  });

  it.each([
    ["null", null],
    ["a string", "text"],
    ["a list", []],
  ])("names a row that was written by hand and is %s", async (_, value) => {
    await fill(3);
    await kv.set(["users", "by hand"], value);
    const invalid = { code: "KW_STORED_ROW_INVALID", model: "users", id: "by hand" };
    expect(await rejection(migrate(await openLater()))).toMatchObject(invalid);
    await kv.delete(["users", "by hand"]);
    expect((await migrate(await openLater())).status).toBe("done");
    await expectIndexesToMatch(kv, LaterUser);
  });

  it.each([
    ["null", null],
    ["a string", "text"],
  ])(
    "names a row that was kept out as a duplicate, and then was written by hand and is %s",
    async (_, value) => {
      await fill(3);
      const before = await createDatabase({ kv, models: { users: User } });
      const twin = await before.users.create({ data: { ...users.ada, name: "Name 1" } });
      expect((await migrate(await openLater())).status).toBe("duplicates");
      await kv.set(["users", twin.id], value);
      const invalid = { code: "KW_STORED_ROW_INVALID", model: "users", id: twin.id };
      expect(await rejection(migrate(await openLater()))).toMatchObject(invalid);
    },
  );

  it("loses nothing beside writers who create, update and delete all the time", async () => {
    await fill(1500);
    const writer = await openLater();
    const { items } = await writer.users.findMany({ where: { favoriteColor: "green" } });
    let turn = 0;
    const interfere = async () => {
      const n = turn++;
      const row = items[(n * 97) % 1000]!;
      const created = { ...users.ada, name: `New ${n}`, email: `new${n}@example.com`, age: n % 50 };
      await writer.users.create({ data: created });
      await writer.users.update({ where: { id: row.id }, data: { age: 99, name: `Changed ${n}` } });
      await writer.users.delete({ where: { id: items[items.length - 1 - n]!.id } });
    };
    const result = await migrate(await openLater(interferingKv(kv, interfere)));
    expect(result.status).toBe("done");
    expect(turn).toBeGreaterThan(5);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("gives the same result when two runs work at once", async () => {
    await fill(1300);
    const reports: number[] = [];
    // What a run reports before its first batch is where it found the scan.
    const onProgress = ({ rowsDone, rowsPerSecond }: MigrationProgress) => {
      if (rowsPerSecond > 0) reports.push(rowsDone);
    };
    const dbs = [await openLater(), await openLater()];
    const runs = await Promise.all(dbs.map((db) => migrate(db, { onProgress })));
    expect(runs.map(({ status }) => status)).toEqual(["done", "done"]);
    // Each batch is done once.
    expect(reports).toEqual([500, 1000, 1300]);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("does not write a batch that another run has written while it was about to", async () => {
    await fill(1300);
    // Without a unique index, whose keys would tell.
    const OneMore = { ...User, indexes: { ...User.indexes, byAge: LaterUser.indexes.byAge } };
    const open = (on: Kv) => createDatabase({ kv: on, models: { users: OneMore } });
    const other = await open(kv);
    const stop = new AbortController();
    const onOther = ({ rowsDone }: MigrationProgress) => {
      if (rowsDone === 500) stop.abort();
    };
    let commits = 0;
    const interfere = async () => {
      // The first commit begins the backfill, the second would write the first batch.
      if (++commits === 2) await migrate(other, { onProgress: onOther, signal: stop.signal });
    };
    const reports: number[] = [];
    const onProgress = ({ rowsDone, rowsPerSecond }: MigrationProgress) => {
      if (rowsPerSecond > 0) reports.push(rowsDone);
    };
    await migrate(await open(interferingKv(kv, interfere)), { onProgress });
    expect(reports).toEqual([1000, 1300]);
    await expectIndexesToMatch(kv, OneMore);
  });

  it("reports every duplicate of a unique index, and makes it readable when they are gone", async () => {
    await fill(600);
    const before = await createDatabase({ kv, models: { users: User } });
    const twins = [];
    for (const [i, name] of ["Name 1", "Name 1", "Name 599"].entries()) {
      twins.push(
        await before.users.create({ data: { ...users.ada, name, email: `twin${i}@example.com` } }),
      );
    }
    const db = await openLater();
    const first = await migrate(db);
    expect(first.status).toBe("duplicates");
    expect(first.indexes).toEqual([
      { model: "users", index: "byAge", state: "readable", duplicates: [] },
      {
        model: "users",
        index: "byName",
        state: "unique-pending",
        duplicates: twins.map(({ id, name }) => ({
          model: "users",
          index: "byName",
          value: [name],
          primaryKey: [id],
        })),
      },
    ]);
    expect((await rejection(db.users.findUnique({ where: { name: "Name 1" } }))).state).toBe(
      "unique-pending",
    );
    const taken = await rejection(db.users.create({ data: { ...users.bob, name: "Name 1" } }));
    expect(taken).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byName" });

    const [renamed, kept, deleted] = twins;
    await db.users.update({ where: { id: renamed!.id }, data: { name: "Name 601" } });
    await db.users.delete({ where: { id: deleted!.id } });
    expect((await migrate(db)).indexes[0]?.duplicates).toHaveLength(1);
    // The one that holds the entry goes: the one that was kept out takes its place.
    await db.users.delete({ where: { email: "a1@example.com" } });
    expect((await migrate(db)).status).toBe("done");
    await expectIndexesToMatch(kv, LaterUser);
    expect((await db.users.findUnique({ where: { name: "Name 1" } }))?.id).toBe(kept!.id);
  });
});

it("does not take a unique value away from a row that is created while the batch is written", async () => {
  await fill(20);
  const writer = await openLater();
  let commits = 0;
  let created: { id: string } | undefined;
  const interfere = async () => {
    // The first commit begins the backfill, the second writes the batch.
    if (++commits !== 2) return;
    created = await writer.users.create({ data: { ...users.ada, name: "Name 5" } });
  };
  const result = await migrate(await openLater(interferingKv(kv, interfere)));
  expect(result.status).toBe("duplicates");
  expect(result.indexes[1]?.duplicates).toHaveLength(1);
  expect((await kv.get(["users_by_name", "Name 5"])).value).toBe(created?.id);
});

it("keeps within the limits of a Deno KV, which does not state them", async () => {
  const deno = denoKv(kv);
  const db = await createDatabase({ kv: deno, models: { users: User } });
  for (let i = 0; i < 25; i++) {
    await db.users.create({
      data: { ...users.ada, name: `Name ${i}`, email: `a${i}@example.com`, age: i },
    });
  }
  expect((await db.users.findMany({ where: { favoriteColor: "green" } })).items).toHaveLength(25);
  const later = await openLater(deno);
  expect((await migrate(later)).status).toBe("done");
  await expectIndexesToMatch(kv, LaterUser);
});

describe("the schema fence", () => {
  it("refuses the writes of a program that does not know an index, and serves its reads", async () => {
    await fill(10);
    const old = await createDatabase({ kv, models: { users: User } });
    await migrate(await openLater());
    const [row] = (await old.users.findMany({ where: { favoriteColor: "green" }, take: 1 })).items;
    const where = { id: row!.id };
    for (const write of [
      old.users.create({ data: users.ada }),
      old.users.update({ where, data: { name: "Other" } }),
      old.users.delete({ where }),
    ]) {
      expect(await rejection(write)).toMatchObject({
        code: "KW_STALE_SCHEMA",
        model: "users",
        differences: ["byAge", "byName"],
      });
    }
    expect(await old.users.findUnique({ where })).toEqual(row);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("lets a program that knows the index go on writing while another builds it", async () => {
    await fill(10);
    const writer = await openLater();
    await migrate(await openLater());
    await writer.users.create({ data: users.bob });
    await expectIndexesToMatch(kv, LaterUser);
    expect((await writer.users.findMany({ where: { age: 42 } })).items).toHaveLength(1);
  });

  it("lets a program that knows the index read it as soon as another has built it", async () => {
    await fill(10);
    const reader = await openLater();
    await migrate(await openLater());
    expect((await reader.users.findMany({ where: { age: 1 } })).items).toHaveLength(1);
  });

  it("does not mind an unknown index that nobody keeps up any more", async () => {
    await fill(1);
    await migrate(await openLater());
    const key = ["__keywright", "catalog", "users"];
    const { value } = await kv.get<{ indexes: Record<string, object> }>(key);
    const { byEmail, byFavoriteColor, byAge, byName } = value!.indexes;
    const indexes = {
      byEmail,
      byFavoriteColor,
      byAge: { ...byAge, state: "disabled" },
      byName: { ...byName, state: "dropping" },
    };
    await kv.set(key, { format: 1, indexes });
    const old = await createDatabase({ kv, models: { users: User } });
    await old.users.create({ data: users.bob });
    await expectIndexesToMatch(kv, User);
  });

  it("refuses an index whose definition is not what the database holds", async () => {
    await fill(1);
    const Changed = {
      ...User,
      indexes: { ...User.indexes, byEmail: { key: "name", unique: true } },
    };
    const error = await rejection(createDatabase({ kv, models: { users: Changed as never } }));
    expect(error).toMatchObject({ code: "KW_INDEX_CHANGED", model: "users", index: "byEmail" });
  });
});
