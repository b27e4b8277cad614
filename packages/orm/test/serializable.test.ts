import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany, migrate } from "../src/index.js";
import { countingKv } from "./counting-kv.js";
import { denoKv } from "./faulty-kv.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { tasks: hasMany("tasks", "userId") },
});

const Task = defineModel({
  name: "tasks",
  schema: z.object({ id: z.string(), list: z.string(), n: z.int(), userId: z.string() }),
  primaryKey: "id",
  indexes: {
    byList: { key: ["list", "n"], count: true, sum: ["n"] },
    byPlainList: { key: ["list", "n", "id"] },
    byRank: { key: ["list", "n"], ranked: true },
    byUser: { key: ["userId", "n"], count: true },
    byN: { key: ["n", "userId"] },
  },
  relations: { user: belongsTo("users", "userId") },
});

const Log = defineModel({
  name: "log",
  schema: z.object({ id: z.string(), seen: z.any() }),
  primaryKey: "id",
});

const models = { users: User, tasks: Task, log: Log };

function open(kv: Kv) {
  return createDatabase({ kv, models });
}

type Database = Awaited<ReturnType<typeof open>>;
type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** What a transaction may read, and others may change while it decides. */
const reads: Record<string, (tx: Tx) => Promise<unknown>> = {
  findMany: (tx) => tx.tasks.findMany({ index: "byPlainList", where: { list: "a" } }),
  "findMany of a page": (tx) =>
    tx.tasks.findMany({
      index: "byList",
      where: { list: "a" },
      orderBy: { n: "desc" },
      take: 2,
    }),
  findFirst: (tx) =>
    tx.tasks.findFirst({ index: "byList", where: { list: "a" }, orderBy: { n: "asc" } }),
  filter: (tx) =>
    tx.tasks.findMany({ index: "byList", where: { list: "a" }, filter: ({ n }) => n > 4 }),
  exists: (tx) => tx.tasks.exists({ index: "byList", where: { list: "new" } }),
  distinct: (tx) => tx.tasks.distinct({ index: "byList", field: "list" }),
  "count of a list": (tx) => tx.tasks.count({ index: "byList", where: { list: "a" } }),
  "count of a range": (tx) =>
    tx.tasks.count({ index: "byList", where: { list: "a", n: { gte: 2 } } }),
  "count of all": (tx) => tx.tasks.count(),
  "ranked count": (tx) => tx.tasks.count({ index: "byRank", where: { list: "a" } }),
  "ranked count of a range": (tx) =>
    tx.tasks.count({ index: "byRank", where: { list: "a", n: { gte: 2 } } }),
  rank: (tx) => tx.tasks.rank({ index: "byRank", where: { id: "2" } }),
  skip: (tx) =>
    tx.tasks.findMany({
      index: "byRank",
      where: { list: "a" },
      orderBy: { n: "asc" },
      skip: 1,
      take: 1,
    }),
  aggregate: (tx) =>
    tx.tasks.aggregate({ index: "byList", where: { list: "a" }, count: true, sum: { n: true } }),
  groupBy: (tx) => tx.tasks.groupBy({ index: "byList", by: ["list"], count: true }),
  "groupBy in a list": (tx) =>
    tx.tasks.groupBy({ index: "byList", by: ["n"], where: { list: "a" }, count: true }),
  include: (tx) => tx.users.findUnique({ where: { id: "u" }, include: { tasks: true } }),
  _count: (tx) => tx.users.findUnique({ where: { id: "u" }, include: { _count: { tasks: true } } }),
  some: (tx) => tx.users.findMany({ where: { tasks: { some: { n: 77 } } } }),
  scan: (tx) => tx.tasks.scan(),
  stream: async (tx) => {
    const ids: string[] = [];
    for await (const { id } of tx.tasks.scan()) ids.push(id);
    return ids;
  },
};

/** What others do meanwhile. */
const writes: Record<string, (db: Database) => Promise<unknown>> = {
  "a row in the middle": (db) => db.tasks.create({ data: task("3x", "a", 3) }),
  "a row with values that another one has": (db) => db.tasks.create({ data: task("3x", "a", 1) }),
  "a last row": (db) => db.tasks.create({ data: task("3x", "a", 77) }),
  "a first row": (db) => db.tasks.create({ data: task("3x", "a", -1) }),
  "a row that begins a group": (db) => db.tasks.create({ data: task("3x", "new", 5) }),
  "a row that moves in": (db) => db.tasks.update({ where: { id: "3" }, data: { list: "a" } }),
  "a row that moves within": (db) => db.tasks.update({ where: { id: "1" }, data: { n: 9 } }),
  "a row that goes": (db) => db.tasks.delete({ where: { id: "2" } }),
};

function task(id: string, list: string, n: number) {
  return { id, list, n, userId: "u" };
}

let folder: string;
let owner: Kv | undefined;
let kv: Kv;
let db: Database;

const engines = ["memory", "LevelDB", "a database of another process"];

describe.each(engines)("a transaction on %s", (engine) => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "keywright-"));
    owner = engine === "memory" ? undefined : await openKv(folder, { durability: "relaxed" });
    const isAttached = engine === "a database of another process";
    kv = isAttached ? await openKv(`unix:${folder}`) : (owner ?? (await openKv()));
    db = await open(kv);
    await db.users.create({ data: { id: "u" } });
    await db.tasks.createMany({
      data: [task("1", "a", 1), task("2", "a", 5), task("3", "b", 3)],
    });
  });
  afterEach(async () => {
    await kv.close();
    await owner?.close();
    await rm(folder, { recursive: true });
  });

  it.each(Object.keys(reads))("commits only what is still true: %s", async (name) => {
    const read = reads[name]!;
    for (const [what, write] of Object.entries(writes)) {
      let attempts = 0;
      const seen = await db.transaction(async (tx) => {
        const result = await read(tx);
        if (++attempts === 1) await outside(() => write(db));
        await tx.log.upsert({
          where: { id: "x" },
          create: { id: "x", seen: null },
          update: { seen: { set: attempts } },
        });
        return result;
      });
      const after = await db.transaction((tx) => read(tx));
      expect(seen, what).toEqual(after);
      await db.tasks.deleteMany({ index: "byUser", where: { userId: "u" } });
      await db.tasks.createMany({
        data: [task("1", "a", 1), task("2", "a", 5), task("3", "b", 3)],
      });
    }
  });

  it("that only reads sees one state, and is not run again", async () => {
    for (const [name, read] of Object.entries(reads)) {
      let attempts = 0;
      await db.transaction(async (tx) => {
        attempts++;
        const before = await read(tx);
        await outside(() => db.tasks.create({ data: task(`new-${name}`, "a", 3) }));
        await outside(() => db.tasks.delete({ where: { id: `new-${name}` } }));
        await outside(() =>
          db.tasks.upsert({
            where: { id: "always" },
            create: task("always", "a", 77),
            update: { n: { increment: 1 } },
          }),
        );
        expect(await read(tx), name).toEqual(before);
      });
      expect(attempts, name).toBe(1);
    }
  });

  it("lets 3 of 16 book the last 3 seats", async () => {
    const book = async (i: number): Promise<boolean> =>
      await db.transaction(async (tx) => {
        if ((await tx.tasks.count({ index: "byList", where: { list: "mon" } })) >= 3) return false;
        await sleep(1);
        await tx.tasks.create({ data: task(`seat-${i}`, "mon", i) });
        return true;
      });
    const booked = await Promise.all(Array.from({ length: 16 }, (_, i) => book(i)));
    expect(booked.filter(Boolean)).toHaveLength(3);
    expect(await db.tasks.count({ index: "byList", where: { list: "mon" } })).toBe(3);
  });

  it("of different rows of one group does not run again", async () => {
    let attempts = 0;
    const add = (i: number) =>
      db.transaction(async (tx) => {
        attempts++;
        await tx.tasks.create({ data: task(`new-${i}`, "a", i % 3) });
      });
    await Promise.all(Array.from({ length: 64 }, (_, i) => add(i)));
    expect(attempts).toBe(64);
    expect(await db.tasks.count({ index: "byList", where: { list: "a" } })).toBe(66);
  });

  it("does not run again for what others change in other ranges", async () => {
    let attempts = 0;
    await db.transaction(async (tx) => {
      attempts++;
      await tx.tasks.findMany({ index: "byPlainList", where: { list: "a" }, take: 1 });
      // After the page, and in another list.
      await outside(() => db.tasks.create({ data: task("4", "a", 9) }));
      await outside(() => db.tasks.create({ data: task("5", "b", 0) }));
      await tx.log.create({ data: { id: "x", seen: 1 } });
    });
    expect(attempts).toBe(1);
  });
});

describe("isolation: serializable", () => {
  const options = { isolation: "serializable" } as const;

  it("runs the function if the database can check ranges, and only then", async () => {
    await using able = await openKv();
    const on = await open(able);
    expect(await on.transaction((tx) => tx.tasks.count(), options)).toBe(0);

    const unable = await open(denoKv(able));
    let calls = 0;
    const run = async () => void calls++;
    await expect(unable.transaction(run, options)).rejects.toMatchObject({
      code: "KW_ISOLATION_UNAVAILABLE",
    });
    await unable
      .scope({ userId: "u" })
      .transaction(run)
      .catch(() => undefined);
    expect(calls).toBe(1);
  });

  it("is the only value of the option", async () => {
    await using kv = await openKv();
    const on = await open(kv);
    const wrong = { isolation: "snapshot" } as never;
    await expect(on.transaction(async () => undefined, wrong)).rejects.toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "isolation",
    });
  });
});

describe("the error of a transaction that has lost each attempt", () => {
  const changes: [
    read: keyof typeof reads,
    write: keyof typeof writes,
    model: string,
    index: string | undefined,
  ][] = [
    ["findMany", "a row in the middle", "tasks", "byPlainList"],
    ["findMany", "a row that moves within", "tasks", "primaryKey"],
    ["exists", "a row that begins a group", "tasks", "byList"],
    ["count of a list", "a row in the middle", "tasks", "byList"],
    ["ranked count", "a row in the middle", "tasks", "byRank"],
    ["scan", "a row that begins a group", "tasks", "primaryKey"],
  ];

  it.each(changes)("names what has changed: %s, %s", async (read, write, model, index) => {
    await using kv = await openKv();
    const on = await open(kv);
    await on.users.create({ data: { id: "u" } });
    await on.tasks.createMany({ data: [task("1", "a", 1), task("2", "a", 5)] });
    const lost = on.transaction(
      async (tx) => {
        await reads[read]!(tx);
        await outside(() => writes[write]!(on));
        await tx.log.create({ data: { id: "x", seen: 1 } });
      },
      { maxAttempts: 1 },
    );
    const error = await lost.catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "KW_TRANSACTION_CONFLICT", attempts: 1, model, index });
    expect(error.message).toContain(` of ${model}, and nothing was written`);
  });

  it("costs nothing before the last attempt", async () => {
    await using kv = await openKv();
    const counted = countingKv(kv);
    const on = await open(counted.kv);
    await on.users.create({ data: { id: "u" } });
    let attempts = 0;
    const run = (maxAttempts: number) => {
      attempts = 0;
      return on.transaction(
        async (tx) => {
          await tx.users.findUnique({ where: { id: "u" } });
          if (++attempts < 3) await outside(() => kv.set(["users", "u"], { id: "u" }));
          await tx.log.upsert({
            where: { id: "x" },
            create: { id: "x", seen: 0 },
            update: { seen: { set: attempts } },
          });
        },
        { maxAttempts },
      );
    };
    counted.calls.getMany = 0;
    await run(3);
    expect(counted.calls.getMany).toBe(0);
    await expect(run(2)).rejects.toMatchObject({ model: "users", index: "primaryKey" });
    expect(counted.calls.getMany).toBe(1);
  });
});

describe("a model with live: true", () => {
  const Live = defineModel({ ...Task, relations: {}, live: true });

  it("makes no transaction run again that has read other rows", async () => {
    await using kv = await openKv();
    const on = await createDatabase({ kv, models: { tasks: Live, log: Log } });
    let attempts = 0;
    await on.transaction(async (tx) => {
      attempts++;
      const index = "byPlainList";
      await tx.tasks.findMany({ index, where: { list: "a", n: { lt: 5 } } });
      await outside(() => on.tasks.create({ data: task("1", "a", 7) }));
      await tx.log.create({ data: { id: "x", seen: 1 } });
    });
    expect(attempts).toBe(1);
  });

  it("lets a transaction notice a row that enters a range that it could not check", async () => {
    await using kv = await openKv();
    const on = await createDatabase({ kv: denoKv(kv), models: { tasks: Live, log: Log } });
    let attempts = 0;
    await on.transaction(async (tx) => {
      attempts++;
      await tx.tasks.findMany({ index: "byPlainList", where: { list: "a", n: { lt: 5 } } });
      if (attempts === 1) await outside(() => on.tasks.create({ data: task("1", "a", 1) }));
      await tx.log.create({ data: { id: "x", seen: 1 } });
    });
    expect(attempts).toBe(2);
  });
});

it("reads in a hook only by indexes that were readable in the state of the transaction", async () => {
  const schema = z.object({ id: z.string(), n: z.int() });
  const Plain = defineModel({ name: "items", schema, primaryKey: "id" });
  const Item = defineModel({ ...Plain, indexes: { byN: { key: "n" } } });
  const memory = await openKv();
  try {
    const plain = await createDatabase({ kv: memory, models: { items: Plain, log: Log } });
    await plain.items.create({ data: { id: "1", n: 1 } });
    const opened = { kv: memory, models: { items: Item, log: Log } };
    const seen: unknown[] = [];
    const hooked = await createDatabase({
      ...opened,
      hooks: {
        log: {
          async duringCreate(_, { tx }) {
            seen.push((await tx.items.findMany({ index: "byN", where: { n: 1 } })).items.length);
            throw new Error("refused");
          },
        },
      },
    });
    const other = await createDatabase(opened);
    let attempts = 0;
    const refused = hooked.transaction(async (tx) => {
      await tx.log.findUnique({ where: { id: "x" } });
      if (++attempts === 1) await outside(() => migrate(other));
      await tx.log.create({ data: { id: "x", seen: 1 } });
    });
    await expect(refused).rejects.toThrow("refused");
    expect(seen).toEqual([1]);
  } finally {
    await memory.close();
  }
});

/** Runs a write of somebody else. */
function outside<T>(write: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    others.push(() => void write().then(resolve, reject));
    wake();
  });
}

const others: (() => void)[] = [];
let wake = (): void => undefined;
/** A loop outside any transaction, because a transaction refuses writes that bypass it. */
async function runOthers(): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    for (const run of others.splice(0)) run();
  }
}
void runOthers();
