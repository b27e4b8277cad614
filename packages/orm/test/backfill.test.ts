import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, defineModel, type MigrationProgress, migrate } from "../src/index.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";
import { LaterUser, rejection, rejections, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** Fills the table with rows as the program wrote them before it had the later indexes. */
async function fill(count: number, on: Kv = kv): Promise<void> {
  const db = await createDatabase({ kv: on, models: { users: User } });
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
    expect(result).toMatchObject({
      status: "done",
      indexes: ["byAge", "byName"].map((index) => ({
        model: "users",
        index,
        state: "readable",
        duplicates: [],
        duplicateCount: 0,
      })),
      unindexed: [],
    });
    await expectIndexesToMatch(kv, LaterUser);
    const ages = (await db.users.findMany(query)).items.map((row) => row.age);
    expect(ages).toEqual([...Array(16).fill(10), ...Array(16).fill(11)]);
    const built = progress.filter(({ phase }) => phase !== "verifying");
    expect(built.map(({ phase, done, total }) => [phase, done, total])).toEqual([
      ["counting", 1200, undefined],
      ["building", 0, 1200],
      ["building", 500, 1200],
      ["building", 1000, 1200],
      ["building", 1200, 1200],
    ]);
    expect(built.at(-1)).toMatchObject({ indexes: ["byAge", "byName"], total: 1200 });
    expect(built.at(-1)?.perSecond).toBeGreaterThan(0);
    expect(progress.at(-1)?.phase).toBe("verifying");
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
    expect(await migrate(db)).toMatchObject({ status: "done", indexes: [], unindexed: [] });
    const own = [];
    for await (const { key } of kv.list({ prefix: ["__keywright"] })) own.push(key[1]);
    expect(new Set(own)).toEqual(new Set(["catalog", "schema"]));
  });

  it.each(["before", "after"] as const)(
    "continues after a crash %s any of its commits",
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
    await rejection(migrate(await openLater(crashingKv(kv, 4, "after"))));
    const progress: MigrationProgress[] = [];
    await migrate(await openLater(), { onProgress: (report) => progress.push(report) });
    expect(progress[0]).toMatchObject({ phase: "building", done: 1000, total: 1100 });
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("stops after the batch in hand when it is told to, and continues there", async () => {
    await fill(1100);
    const controller = new AbortController();
    const onProgress = ({ done }: MigrationProgress) => {
      if (done === 500) controller.abort();
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
    ["is null", null, ["byAge", "byName"], "not an object."],
    ["is a string", "text", ["byAge", "byName"], "not an object."],
    ["is a list", [], ["byAge", "byName"], "not an object."],
    ["has what no key can hold", { name: "x", age: {} }, ["byAge"], "age is of type object"],
    ["has too long a text", { name: "x".repeat(70_000), age: 1 }, ["byName"], "too long"],
    ["has half a character", { name: "\ud800", age: 1 }, ["byName"], "not well-formed"],
  ])(
    "continues after a row that was written by hand and %s, and says so",
    async (_, value, indexes, reason) => {
      await fill(600);
      await kv.set(["users", "by hand"], value);
      const result = await migrate(await openLater());
      expect(result).toMatchObject({ status: "unindexed-rows", unindexedCount: 1 });
      expect(result.unindexed).toEqual([
        { model: "users", id: "by hand", indexes, reason: expect.stringContaining(reason) },
      ]);
      // What it could index it did.
      const others = [
        ["users_by_age", 1, "by hand"],
        ["users_by_name", "x"],
      ];
      const isIndexed = async (key: KvKey) => (await kv.get(key)).value === "by hand";
      const found = await Promise.all(others.map(isIndexed));
      expect(found.filter((one) => one)).toHaveLength(2 - indexes.length);
      for (const key of [["users", "by hand"], ...others]) await kv.delete(key);
      await expectIndexesToMatch(kv, LaterUser);
    },
  );

  it("indexes a row whose key is as long as the database takes it", async () => {
    await fill(3);
    const before = await createDatabase({ kv, models: { users: User } });
    await before.users.create({ data: { ...users.ada, name: "ä😀".repeat(2000) } });
    expect(await migrate(await openLater())).toMatchObject({ status: "done", unindexed: [] });
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("counts rows that it cannot index, tells of the first hundred, and remembers them", async () => {
    await fill(3);
    for (let i = 0; i < 250; i++) await kv.set(["users", `by hand ${i}`], null);
    await rejection(migrate(await openLater(crashingKv(denoKv(kv), 100, "after"))));
    const [state] = await Promise.all([kv.get(["__keywright", "backfill", "users"])]);
    expect(state.value).toMatchObject({ unindexed: { count: expect.any(Number) } });
    const result = await migrate(await openLater());
    expect(result).toMatchObject({ status: "unindexed-rows", unindexedCount: 250 });
    expect(result.unindexed).toHaveLength(100);
    expect(result.unindexed[0]).toMatchObject({ id: "by hand 0" });
  });

  it("loses nothing while others create, update and delete all the time", async () => {
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
    const onProgress = ({ phase, done, perSecond }: MigrationProgress) => {
      if (phase === "building" && perSecond > 0) reports.push(done);
    };
    const dbs = [await openLater(), await openLater()];
    const runs = await Promise.all(dbs.map((db) => migrate(db, { onProgress })));
    expect(runs.map(({ status }) => status)).toEqual(["done", "done"]);
    // The second waits, and finds nothing left to do.
    expect(runs.map(({ indexes }) => indexes.length).sort()).toEqual([0, 2]);
    expect(reports).toEqual([500, 1000, 1300]);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("writes nothing any more when another runner has taken over", async () => {
    await fill(1300);
    // Without a unique index, whose keys would tell.
    const OneMore = { ...User, indexes: { ...User.indexes, byAge: LaterUser.indexes.byAge } };
    const open = (on: Kv) => createDatabase({ kv: on, models: { users: OneMore } });
    const other = await open(kv);
    const stop = new AbortController();
    const onOther = ({ done }: MigrationProgress) => {
      if (done === 500) stop.abort();
    };
    let commits = 0;
    const interfere = async () => {
      // The first commit takes the lease, the second begins the backfill, the third would write the
      // first batch.
      if (++commits !== 3) return;
      await kv.delete(["__keywright", "lease"]);
      await migrate(other, { onProgress: onOther, signal: stop.signal });
    };
    expect((await migrate(await open(interferingKv(kv, interfere)))).status).toBe("lost");
    const state = await kv.get(["__keywright", "backfill", "users"]);
    expect(state.value).toMatchObject({ rowsDone: 500 });
    expect((await migrate(other)).status).toBe("done");
    await expectIndexesToMatch(kv, OneMore);
  });

  it("keeps to a bound on rows a second in the size of its batches", async () => {
    await fill(30);
    const reports: number[] = [];
    const onProgress = ({ phase, done, perSecond }: MigrationProgress) => {
      if (phase === "building" && perSecond > 0) reports.push(done);
    };
    const result = await migrate(await openLater(), {
      onProgress,
      rowsPerSecond: 40,
      verify: false,
    });
    expect(result.status).toBe("done");
    expect(reports).toEqual([10, 20, 30]);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("stops while it waits for the bound on rows a second", async () => {
    await fill(30);
    const stop = new AbortController();
    const onProgress = ({ phase, perSecond }: MigrationProgress) => {
      if (phase === "building" && perSecond > 0) setTimeout(() => stop.abort(), 0);
    };
    const options = { onProgress, signal: stop.signal, rowsPerSecond: 0.001 };
    expect((await migrate(await openLater(), options)).status).toBe("stopped");
    expect((await kv.get(["__keywright", "lease"])).value).toBeNull();
  });

  it("does without counting and verifying where it is told to", async () => {
    await fill(600);
    const progress: MigrationProgress[] = [];
    const options = { count: false, verify: false };
    const onProgress = (report: MigrationProgress) => progress.push(report);
    expect((await migrate(await openLater(), { ...options, onProgress })).status).toBe("done");
    expect(new Set(progress.map(({ phase }) => phase))).toEqual(new Set(["building"]));
    expect(progress.at(-1)).toMatchObject({
      done: 600,
      total: undefined,
    });
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("is verifying, and written to, before it is readable", async () => {
    await fill(5);
    const db = await openLater();
    const states: unknown[] = [];
    const watching = interferingKv(kv, async () => {
      const { value } = await kv.get<{ indexes: Record<string, { state: string }> }>([
        "__keywright",
        "catalog",
        "users",
      ]);
      const state = value?.indexes.byAge?.state ?? "absent";
      if (states.at(-1) === state) return;
      states.push(state);
      if (state !== "verifying") return;
      await db.users.create({ data: { ...users.bob, name: "Between" } });
      expect(await rejection(db.users.findMany({ where: { age: 42 } }))).toMatchObject({
        state: "verifying",
        progress: { phase: "building", done: 5, total: 5, perSecond: 0 },
      });
    });
    await migrate(await openLater(watching));
    expect(states).toEqual(["absent", "write-only", "verifying", "readable"]);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("repairs what is wrong with a new index before it goes readable", async () => {
    await fill(5);
    // An entry that no row has, from before the index was one of the program's.
    await kv.set(["users_by_age", 1000, "nobody"], "nobody");
    await migrate(await openLater());
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("leaves what a run without a crash does, wherever the one before it dies after a commit", async () => {
    const commits = await crashAtEachCommit(async (at) => {
      const own = await openKv();
      try {
        await fill(7, own);
        const before = await createDatabase({ kv: own, models: { users: User } });
        const twin = await before.users.create({ data: { ...users.ada, name: "Name 3" } });
        const dying = await openLater(crashingKv(denoKv(own), at, "after"));
        const end = await migrate(dying).catch((error: unknown) => error);
        const db = await openLater(own);
        await db.users.create({ data: { ...users.bob, name: `Between ${at}` } });
        const resumed = await migrate(db);
        expect(resumed.status).toBe("duplicates");
        await db.users.delete({ where: { id: twin.id } });
        expect((await migrate(db)).status).toBe("done");
        await expectIndexesToMatch(own, LaterUser);
        const left = [];
        for await (const { key } of own.list({ prefix: ["__keywright"] })) left.push(key[1]);
        expect(new Set(left)).toEqual(new Set(["catalog", "schema"]));
        return end instanceof Crash;
      } finally {
        await own.close();
      }
    });
    expect(commits).toBeGreaterThan(6);
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
      { model: "users", index: "byAge", state: "readable", duplicates: [], duplicateCount: 0 },
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
        duplicateCount: 3,
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
    await kv.delete([
      "users",
      (await db.users.findUnique({ where: { email: "a1@example.com" } }))!.id,
    ]);
    expect((await migrate(db)).status).toBe("done");
    for (const key of [["users_by_email", "a1@example.com"]]) await kv.delete(key);
    for await (const { key, value } of kv.list({ prefix: ["users_by_favorite_color"] })) {
      if ((await kv.get(["users", value as string])).value === null) await kv.delete(key);
    }
    for await (const { key, value } of kv.list({ prefix: ["users_by_age"] })) {
      if ((await kv.get(["users", value as string])).value === null) await kv.delete(key);
    }
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
    // The first commit takes the lease, the second begins the backfill, the third writes the batch.
    if (++commits !== 3) return;
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
  it("refuses the writes of a program that lacks an index with a function, and serves its reads", async () => {
    await fill(10);
    const old = await createDatabase({ kv, models: { users: User } });
    const byInitial = { key: (user: { name: string }) => user.name[0] };
    const WithFunction = defineModel({
      ...LaterUser,
      indexes: { ...LaterUser.indexes, byInitial },
    });
    await migrate(await createDatabase({ kv, models: { users: WithFunction } }));
    const [row] = (await old.users.findMany({ where: { favoriteColor: "green" }, take: 1 })).items;
    const where = { id: row!.id };
    const writes = [
      old.users.create({ data: users.ada }),
      old.users.update({ where, data: { name: "Other" } }),
      old.users.delete({ where }),
    ];
    for (const error of await rejections(writes)) {
      expect(error).toMatchObject({
        code: "KW_STALE_SCHEMA",
        model: "users",
        differences: ["the index byInitial is in the database only"],
      });
    }
    expect(await old.users.findUnique({ where })).toEqual(row);
    await expectIndexesToMatch(kv, WithFunction);
  });

  it("lets a program that knows the index continue to write while another builds it", async () => {
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
      byAge: { ...byAge, state: "absent" },
      byName: { ...byName, state: "dropping" },
    };
    await kv.set(key, { ...value, indexes });
    const old = await createDatabase({ kv, models: { users: User } });
    await old.users.create({ data: users.bob });
    await expectIndexesToMatch(kv, User);
  });

  it("refuses an index whose definition is not what the database holds", async () => {
    await fill(1);
    const Changed = defineModel({
      ...User,
      indexes: { ...User.indexes, byEmail: { key: "name", unique: true } },
    });
    const db = await createDatabase({ kv, models: { users: Changed } });
    const changed = { code: "KW_INDEX_CHANGED", model: "users", index: "byEmail" };
    expect(await rejection(db.users.create({ data: users.bob }))).toMatchObject(changed);
    expect(await rejection(db.users.findUnique({ where: { name: "x" } }))).toMatchObject(changed);
  });
});
