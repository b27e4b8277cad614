import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type EmbeddedKv, type Kv, type KvKey, type KvView, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  desc,
  hasMany,
  migrate,
  SnapshotEndedError,
  SnapshotReadOnlyError,
} from "../src/index.js";
import { FailingKv } from "./failing-kv.js";
import { denoKv } from "./faulty-kv.js";
import { contextOf } from "./migration-run.js";
import { openDenoKv } from "./open-deno-kv.js";
import { rejection } from "./user-model.js";

const User = defineModel({
  name: "users",
  schema: z.object({ tenant: z.string(), id: z.string(), city: z.string() }),
  primaryKey: ["tenant", "id"],
  count: true,
  indexes: { byCity: { key: ["tenant", "city"], count: true }, byAnyCity: { key: "city" } },
  relations: { orders: hasMany("orders", ["tenant", "userId"]) },
});

const Order = defineModel({
  name: "orders",
  schema: z.object({
    tenant: z.string(),
    id: z.int(),
    userId: z.string(),
    amount: z.int(),
  }),
  primaryKey: ["tenant", "id"],
  indexes: {
    byUser: { key: ["tenant", "userId", desc("amount")], count: true, sum: ["amount"] },
    byAmount: { key: ["tenant", "amount"], ranked: true, max: ["id"] },
  },
  relations: { user: belongsTo("users", ["tenant", "userId"]) },
});

const Item = defineModel({
  name: "items",
  schema: z.object({ id: z.int(), list: z.string(), n: z.int() }),
  primaryKey: "id",
  indexes: { byList: { key: "list", count: true } },
});

const models = { users: User, orders: Order };

function openModels(kv: Kv) {
  return createDatabase({ kv, models });
}

type Database = Awaited<ReturnType<typeof openModels>>;
type View = Parameters<Parameters<Database["snapshot"]>[0]>[0];

const tenant = "a";
const orderCount = 210;

/** More rows than a page of a stream has. */
async function fill(db: Database): Promise<void> {
  const cities = ["Bern", "Oslo", "Rome"];
  const users = cities.map((city, i) => ({ tenant, id: `u${i}`, city }));
  await db.users.createMany({ data: users, atomic: true });
  const orders = Array.from({ length: orderCount }, (_, id) => {
    return { tenant, id, userId: `u${id % 3}`, amount: id % 50 };
  });
  // etcd accepts few checks in one commit.
  for (let from = 0; from < orderCount; from += 70)
    await db.orders.createMany({ data: orders.slice(from, from + 70), atomic: true });
}

async function listed<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

/** Returns the same object with some methods replaced. */
function withMethods<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, property) {
      const from = property in methods ? methods : target;
      const member: unknown = Reflect.get(from, property, from);
      return typeof member === "function" ? member.bind(from) : member;
    },
  });
}

/** Every way to read. */
const reads: Record<string, (view: View) => Promise<unknown>> = {
  findUnique: (view) => view.users.findUnique({ where: { tenant, id: "u1" } }),
  findFirst: (view) => view.orders.findFirst({ where: { tenant, userId: "u1" } }),
  findMany: (view) => view.orders.findMany({ where: { tenant, amount: { gte: 20 } } }),
  "pages of findMany": async (view) => {
    const pages = [];
    let cursor: string | null = null;
    do {
      const page: { items: unknown[]; cursor: string | null } = await view.orders.findMany({
        where: { tenant, userId: "u2" },
        take: 20,
        cursor,
      });
      pages.push(page);
      cursor = page.cursor;
    } while (cursor !== null);
    return pages;
  },
  include: (view) =>
    view.users.findMany({
      where: { tenant },
      include: { orders: { take: 5, include: { user: true } }, _count: { orders: true } },
    }),
  "a condition on related rows": (view) =>
    view.users.findMany({ where: { tenant, orders: { some: { amount: 49 } } } }),
  count: (view) => view.users.count(),
  "count of an index": (view) => view.orders.count({ where: { tenant, userId: "u0" } }),
  "count of a range": (view) => view.orders.count({ where: { tenant, amount: { lt: 7 } } }),
  exists: (view) => view.users.exists({ where: { tenant, city: "Rome" } }),
  aggregate: (view) =>
    view.orders.aggregate({
      index: "byUser",
      where: { tenant },
      count: true,
      sum: { amount: true },
    }),
  groupBy: (view) =>
    view.orders.groupBy({ index: "byUser", by: ["userId"], where: { tenant }, count: true }),
  distinct: (view) =>
    view.orders.distinct({ index: "byAmount", where: { tenant }, field: "amount" }),
  rank: (view) => view.orders.rank({ index: "byAmount", where: { tenant, id: 30 } }),
  scan: async (view) => listed(view.orders.scan()),
  "a stream of an index": (view) =>
    listed(view.orders.findMany({ where: { tenant, userId: "u1" } })),
  "a stream with relations": (view) => listed(view.orders.scan({ include: { user: true } })),
  "a stream with a condition on related rows": (view) =>
    listed(view.orders.findMany({ where: { tenant, user: { is: { city: "Rome" } } } })),
  "a scope": (view) => listed(view.scope({ tenant }).orders.scan()),
};

/** Changes what each of the reads returns. */
async function change(db: Database, step: number): Promise<void> {
  const id = orderCount + step;
  const user = { tenant, id: "u1" };
  await db.users.update({ where: user, data: { city: `City ${step}` } });
  await db.users.update({ where: { tenant, id: "u2" }, data: { city: "Nice" } });
  await db.users.create({ data: { tenant, id: `v${step}`, city: "Bern" } });
  await db.orders.create({ data: { tenant, id, userId: `v${step}`, amount: step } });
  for (const moved of [step, 30 + step, 150 + step, 200 - step])
    await db.orders.update({
      where: { tenant, id: moved },
      data: { amount: { increment: 1 }, userId: `u${(moved + 1) % 3}` },
    });
  await db.orders.delete({ where: { tenant, id: 80 + step } });
}

interface Opened {
  readonly kv: EmbeddedKv;
  close(): Promise<void>;
}

async function inFolder(open: (path: string) => Promise<Opened>): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-snapshot-"));
  const { kv, close } = await open(join(folder, "kv"));
  const remove = async () => {
    await close();
    await rm(folder, { recursive: true, force: true });
  };
  return { kv, close: remove };
}

/** A thread that owns databases. It opens one when it gets the path of a folder, and closes it next. */
const startOwner = () =>
  new Worker(
    `
    const { parentPort } = require("node:worker_threads");
    const open = new Map();
    parentPort.on("message", async (path) => {
      const { openKv } = await import("@keywright/core");
      await open.get(path)?.close();
      if (!open.delete(path)) open.set(path, await openKv(path, { durability: "relaxed" }));
      parentPort.postMessage("done");
    });
  `,
    { eval: true },
  );

/** Opens or closes the database in a folder in the thread that owns it. */
async function tell(owner: Worker, path: string): Promise<void> {
  owner.postMessage(path);
  await once(owner, "message");
}

/** The owner of all tests: a thread of its own for each takes longer than the test. */
let sharedOwner: Worker | undefined;
afterAll(() => sharedOwner?.terminate());

const databases: Record<string, () => Promise<Opened>> = {
  "in memory": async () => {
    const kv = await openKv();
    return { kv, close: async () => void (await kv.close()) };
  },
  "in a folder": () =>
    inFolder(async (path) => {
      const kv = await openKv(path, { durability: "relaxed" });
      return { kv, close: async () => void (await kv.close()) };
    }),
  "attached to another thread": () =>
    inFolder(async (path) => {
      sharedOwner ??= startOwner();
      const owner = sharedOwner;
      await tell(owner, path);
      const kv = await openKv(path, { durability: "relaxed" });
      const close = async () => {
        await kv.close();
        await tell(owner, path);
      };
      return { kv, close };
    }),
};

describe.each(Object.entries(databases))("a snapshot of a database %s", (_, open) => {
  let opened: Opened;
  let counting: FailingKv;
  let db: Database;
  beforeEach(async () => {
    opened = await open();
    counting = new FailingKv(opened.kv);
    db = await openModels(counting.kv);
  });
  afterEach(async () => {
    await opened.close();
    expect(counting.views).toBe(0);
  });

  it("reads the state of its beginning in every way, whatever others write", async () => {
    await fill(db);
    const expected: Record<string, unknown> = {};
    for (const [name, read] of Object.entries(reads)) expected[name] = await db.snapshot(read);
    const seen: Record<string, unknown> = {};
    let step = 0;
    await db.snapshot(async (view) => {
      for (const [name, read] of Object.entries(reads)) {
        await change(db, step++);
        seen[name] = await read(view);
      }
    });
    expect(seen).toEqual(expected);
    for (const [name, read] of Object.entries(reads))
      expect([name, await db.snapshot(read)]).not.toEqual([name, expected[name]]);
  });

  it("continues a stream in its state while others write between the pages", async () => {
    await fill(db);
    const before = (await db.orders.scan()).items;
    let step = 0;
    const seen = await db.snapshot(async (view) => {
      const rows = [];
      for await (const row of view.orders.scan()) {
        if (rows.length % 30 === 0) await change(db, step++);
        rows.push(row);
      }
      return rows;
    });
    expect(step).toBe(7);
    expect(seen).toEqual(before);
  });

  it("fits together while others write all the time", async () => {
    await fill(db);
    let isOver = false;
    const writer = async (step: number) => {
      for (let id = step; !isOver; id = (id + 7) % orderCount) {
        const other = (id + 1) % orderCount;
        await db.transaction(async (tx) => {
          const [a, b] = [
            { tenant, id },
            { tenant, id: other },
          ];
          await tx.orders.update({ where: a, data: { amount: { increment: 1 } } });
          await tx.orders.update({ where: b, data: { amount: { increment: -1 } } });
        });
      }
    };
    const writers = [0, 1, 2, 3].map(writer);
    const total = Array.from({ length: orderCount }, (_, id) => id % 50).reduce((a, b) => a + b);
    try {
      for (let i = 0; i < 5; i++) {
        const [rows, sums] = await db.snapshot(async (view) => [
          await listed(view.orders.scan()),
          await view.orders.aggregate({
            index: "byUser",
            where: { tenant },
            sum: { amount: true },
          }),
        ]);
        expect(rows.reduce((sum, { amount }) => sum + amount, 0)).toBe(total);
        expect(sums).toEqual({ sum: { amount: total } });
      }
    } finally {
      isOver = true;
      await Promise.all(writers);
    }
  });

  it("ends with its function", async () => {
    await fill(db);
    let late!: View;
    let rows!: AsyncIterator<unknown>;
    let running!: Promise<unknown>;
    const result = await db.snapshot(async (view) => {
      late = view;
      rows = view.orders.scan()[Symbol.asyncIterator]();
      await rows.next();
      running = rejection(listed(view.orders.scan()));
      return "done";
    });
    expect(result).toBe("done");
    const ended = {
      code: "KW_SNAPSHOT_ENDED",
      reason: undefined,
      retryable: false,
      message:
        "snapshot: its function has ended, and the call read nothing; await all calls of the view within the function",
    };
    expect(await rejection(rows.next())).toMatchObject(ended);
    expect(await rows.next()).toEqual({ done: true, value: undefined });
    expect(await running).toMatchObject(ended);
    for (const read of Object.values(reads))
      expect(await rejection(read(late))).toMatchObject(ended);
  });

  it("ends with a function that throws", async () => {
    let late!: View;
    const failure = new Error("no");
    const call = db.snapshot(async (view) => {
      late = view;
      await view.users.count();
      throw failure;
    });
    expect(await rejection(call)).toBe(failure);
    await expect(late.users.count()).rejects.toBeInstanceOf(SnapshotEndedError);
  });

  it("ends when its signal is aborted", async () => {
    await fill(db);
    const early = db.snapshot(() => expect.fail(), { signal: AbortSignal.abort("early") });
    await expect(early).rejects.toBe("early");
    const controller = new AbortController();
    const errors: unknown[] = [];
    const call = db.snapshot(
      async (view) => {
        const rows = view.orders.scan()[Symbol.asyncIterator]();
        await rows.next();
        controller.abort("over");
        await rows.next().catch((error: unknown) => errors.push(error));
        await view.users.count().catch((error: unknown) => errors.push(error));
        return "done";
      },
      { signal: controller.signal },
    );
    await expect(call).rejects.toBe("over");
    expect(errors).toEqual(["over", "over"]);
  });

  it("ends when the database is closed", async () => {
    const call = db.snapshot(async (view) => {
      await view.users.count();
      await opened.kv.close();
      return await view.users.count();
    });
    expect(await rejection(call)).toMatchObject({ code: "KW_DATABASE_CLOSED" });
  });

  it("refuses what does not only read", async () => {
    await fill(db);
    const where = { tenant, id: "u1" };
    const data = { tenant, id: "new", city: "Bern" };
    await db.snapshot(async (view) => {
      for (const users of [view.users, view.scope({ tenant }).users]) {
        const calls = {
          ...{ create: { data }, createMany: { data: [data] }, delete: { where } },
          ...{ update: { where, data }, updateMany: { data }, deleteMany: {}, restore: { where } },
          ...{ upsert: { where, create: data, update: data }, purge: { where } },
        };
        for (const [method, argument] of Object.entries(calls)) {
          const call = (users as never as Record<string, (of: unknown) => Promise<unknown>>)[
            method
          ];
          const error = await rejection(call!.call(users, argument));
          expect(error).toBeInstanceOf(SnapshotReadOnlyError);
          expect(error.message).toBe(
            `users.${method}: the view of a snapshot has only methods that read once; call it on the database`,
          );
        }
        const repository = users as never as Database["users"];
        expect(() => repository.watch({ where })).toThrow(SnapshotReadOnlyError);
        expect(() => repository.watchMany({ where: { tenant } })).toThrow(SnapshotReadOnlyError);
      }
      const whole = view as never as Database;
      for (const method of ["transaction", "snapshot"] as const)
        expect(await rejection(whole[method](async () => undefined))).toMatchObject({
          code: "KW_SNAPSHOT_READ_ONLY",
          message: `${method}: the view of a snapshot has only methods that read once; call it on the database`,
        });
      await expect(migrate(whole)).rejects.toThrow(TypeError);
      // @ts-expect-error: it writes
      expect(view.users.create).toBeTypeOf("function");
      // @ts-expect-error: it reads more than once
      expect(view.users.watch).toBeTypeOf("function");
      // @ts-expect-error: it writes
      expect(view.transaction).toBeTypeOf("function");
    });
    expect(await db.users.count()).toBe(3);
    // @ts-expect-error: it is no function
    expect(await rejection(db.snapshot(1))).toMatchObject({ code: "KW_ARGUMENT_INVALID" });
  });

  it("can write to the database, and be within a transaction", async () => {
    await fill(db);
    const data = { tenant, id: "new", city: "Bern" };
    await db.snapshot(async (view) => {
      await db.users.create({ data });
      expect(await view.users.count()).toBe(3);
      expect(await view.users.findUnique({ where: { tenant, id: "new" } })).toBe(null);
    });
    await db.transaction(async (tx) => {
      await tx.users.delete({ where: { tenant, id: "new" } });
      expect(await db.snapshot((view) => view.users.count())).toBe(4);
    });
    expect(await db.snapshot((view) => view.users.count())).toBe(3);
  });

  it("of a scope has only its rows", async () => {
    await fill(db);
    const other = { tenant: "b", id: "u1", city: "Oslo" };
    await db.users.create({ data: other });
    const within = db.scope({ tenant });
    const seen = await within.snapshot(async (view) => {
      await within.users.create({ data: { id: "new", city: "Bern" } });
      return (await view.users.scan()).items.map(({ id }) => id);
    });
    expect(seen).toEqual(["u0", "u1", "u2"]);
    await db.snapshot(async (view) => {
      await db.users.delete({ where: { tenant: "b", id: "u1" } });
      expect((await view.scope({ tenant: "b" }).users.scan()).items).toEqual([other]);
      expect(await view.scope({ tenant: "b" }).users.count()).toBe(1);
    });
  });

  it("counts rows that expire as long as it reads them", async () => {
    const Session = defineModel({
      name: "sessions",
      schema: z.object({ id: z.string(), user: z.string() }),
      primaryKey: "id",
      count: true,
      indexes: { byUser: { key: "user", count: true } },
    });
    const sessions = await createDatabase({ kv: counting.kv, models: { sessions: Session } });
    await sessions.sessions.create({ data: { id: "s", user: "ada" }, expireIn: 250 });
    await sessions.sessions.create({ data: { id: "t", user: "ada" } });
    await sessions.snapshot(async (view) => {
      const numberOf = async () => [
        (await view.sessions.findMany({ where: { user: "ada" } })).items.length,
        await view.sessions.count({ where: { user: "ada" } }),
        await view.sessions.count(),
      ];
      expect(await numberOf()).toEqual([2, 2, 2]);
      await expect.poll(() => sessions.sessions.count()).toBe(1);
      expect(await numberOf()).toEqual([2, 2, 2]);
    });
  });

  /** Migrates the items to other indexes, as another program. */
  async function migrateTo(indexes: object): Promise<void> {
    const { name, schema, primaryKey } = Item;
    const model = defineModel({ name, schema, primaryKey, indexes } as never) as typeof Item;
    const other = await createDatabase({ kv: counting.kv, models: { items: model } });
    expect(await migrate(other, { accept: true })).toMatchObject({ status: "done" });
  }

  it.each([
    ["adds", { byList: { key: "list", count: true }, byN: { key: ["n", "list"] } }, false],
    ["drops", {}, true],
    ["replaces", { byList: { key: ["list", "n"], count: true } }, false],
  ])("reads the indexes of its state while a migration %s indexes", async (_, indexes, isLost) => {
    const items = await createDatabase({ kv: counting.kv, models: { items: Item } });
    const data = Array.from({ length: 40 }, (_, id) => ({ id, list: `l${id % 2}`, n: id % 7 }));
    await items.items.createMany({ data, atomic: true });
    type ItemView = Parameters<Parameters<typeof items.snapshot>[0]>[0];
    const where = { list: "l1" };
    const read = async ({ items }: ItemView) => {
      const counted = await items.count({ where });
      return { counted, ids: (await listed(items.findMany({ where }))).map(({ id }) => id) };
    };
    const expected = await items.snapshot(read);
    expect(expected.ids.length).toBe(20);
    await items.snapshot(async (view) => {
      expect(await read(view)).toEqual(expected);
      await migrateTo(indexes);
      await counting.kv.delete(["items", 1]);
      await counting.kv.delete(["items_by_list", "l1", 1]);
      // The program reads its catalog.
      const later = await items.items.findMany({ where }).then(undefined, (error) => error.code);
      expect(later === "KW_INDEX_NOT_READY" || later === "KW_INDEX_CHANGED").toBe(isLost);
      const seen = await read(view).catch((error: unknown) => error);
      if (seen instanceof SnapshotEndedError)
        expect(seen.reason).toBe("a migration has replaced rows or indexes of items");
      else expect(seen).toEqual(expected);
    });
    const again = await items.snapshot(read).then(undefined, (error) => error.code);
    expect(again === "KW_INDEX_NOT_READY" || again === "KW_INDEX_CHANGED").toBe(isLost);
  });

  it("ends if a migration gives the place of its rows or indexes to others", async () => {
    const first = { byList: { key: ["list", "id", "n"], count: true } };
    const last = { byList: { key: ["list", "n", "id"], count: true } };
    await migrateTo(first);
    await counting.kv.set(["items", 1], { id: 1, list: "l1", n: 1 });
    // The index is built at another place than that of the first one.
    await migrateTo({ byList: { key: "list", count: true } });
    const items = await createDatabase({ kv: counting.kv, models: { items: Item } });
    const where = { list: "l1" };
    await items.snapshot(async (view) => {
      const rows = view.items.findMany({ where });
      expect((await rows).items.length).toBe(1);
      await migrateTo(last);
      await migrateTo({});
      await rejection(items.items.findMany({ where }).then());
      expect(await rejection(view.items.findMany({ where }).then())).toMatchObject({
        code: "KW_SNAPSHOT_ENDED",
        retryable: true,
        reason: "a migration has replaced rows or indexes of items",
      });
    });
  });

  it("begins with the catalog of its state, which another program has just changed", async () => {
    const items = await createDatabase({ kv: counting.kv, models: { items: Item } });
    await migrateTo({});
    await counting.kv.set(["items", 1], { id: 1, list: "l1", n: 1 });
    // The catalog that the program has read last has an index without the new row.
    const late = items.snapshot((view) => view.items.count({ where: { list: "l1" } }));
    expect(await rejection(late)).toMatchObject({ code: "KW_INDEX_NOT_READY" });
  });

  /** Opens a database that also has lists, with replaced methods. */
  function openLists(methods: Partial<Kv>) {
    const List = defineModel({
      name: "lists",
      schema: z.object({ id: z.int() }),
      primaryKey: "id",
    });
    const kv = withMethods<Kv>(counting.kv, methods);
    return createDatabase({ kv, models: { items: Item, lists: List } });
  }

  it("begins again if another call has read a later catalog while it begins", async () => {
    await migrateTo({});
    const { name, schema, primaryKey } = Item;
    const bare = { items: defineModel({ name, schema, primaryKey }) } as never;
    const before: { items: { createMany(of: object): Promise<unknown> } } = await createDatabase({
      kv: counting.kv,
      models: bare,
    });
    const data = Array.from({ length: 10 }, (_, id) => ({ id, list: `l${id % 2}`, n: id }));
    await before.items.createMany({ data, atomic: true });
    const steps: string[] = [];
    const get = async (key: KvKey): Promise<never> => {
      if (steps[0] === "begin" && key[1] === "catalog" && key[2] === "lists") {
        steps.unshift("migrate");
        await migrateTo(Item.indexes!);
        await contextOf(db, "items").catalog.reload();
      }
      return (await counting.kv.get(key)) as never;
    };
    const db = await openLists({ get });
    // The catalog of lists changes, so that the snapshot reads it after that of items.
    const other = await openLists({});
    await other.lists.create({ data: { id: 1 }, expireIn: 100_000 });
    steps.unshift("begin");
    const where = { list: "l1" };
    const found = await db.snapshot(async ({ items }) => [
      (await items.findMany({ where })).items.length,
      await items.count({ where }),
    ]);
    expect(steps).toEqual(["migrate", "begin"]);
    expect(found).toEqual([5, 5]);
  });

  it("does not begin after its signal is aborted, if catalogs change all the time", async () => {
    const controller = new AbortController();
    let views = 0;
    const openView: Kv["openView"] = (options) => {
      if (++views === 3) controller.abort("over");
      const view = counting.kv.openView!(options) as KvView;
      const getMany = async (keys: readonly KvKey[]): Promise<never> => {
        const entries = await view.getMany<unknown[]>(keys);
        const { key, value } = await counting.kv.get(keys[0]!);
        await counting.kv.set(key, value);
        await contextOf(db, "items").catalog.reload();
        return entries as never;
      };
      return withMethods<KvView>(view, { getMany });
    };
    const db = await openLists({ openView });
    const call = db.snapshot(() => expect.fail(), { signal: controller.signal });
    await expect(call).rejects.toBe("over");
    expect(views).toBe(3);
  });
});

it("a snapshot ends if the process that holds its state goes away", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keywright-snapshot-"));
  const path = join(folder, "kv");
  const owner = startOwner();
  await tell(owner, path);
  const kv = await openKv(path, { durability: "relaxed" });
  try {
    const db = await openModels(kv);
    await fill(db);
    const call = db.snapshot(async (view) => {
      await view.users.count();
      await owner.terminate();
      const error = await rejection(view.users.count());
      expect(await rejection(view.orders.scan().then())).toMatchObject({ code: error.code });
      throw error;
    });
    const error = await rejection(call);
    expect(error).toMatchObject({ code: "KW_SNAPSHOT_ENDED", retryable: true });
    expect(error.message).toBe(
      `snapshot: the state that it reads is no longer available, because ${error.reason}; call it again, and read in less time or in several snapshots`,
    );
    expect(await db.snapshot((view) => view.users.count())).toBe(3);
  } finally {
    await kv.close();
    await rm(folder, { recursive: true, force: true });
  }
});

it.each([
  ["@deno/kv", openDenoKv],
  ["a database with Deno's interface and no more", async () => denoKv(await openKv())],
])("%s has no snapshots", async (_, open) => {
  const kv = await open();
  try {
    const db = await openModels(kv);
    expect(await rejection(db.snapshot(() => expect.fail()))).toMatchObject({
      code: "KW_ISOLATION_UNAVAILABLE",
      message:
        "snapshot: this database cannot read one state in several calls; read on the database itself if the calls may see different states, or use a database that can",
    });
  } finally {
    await kv.close();
  }
});

it("a model cannot have the name of the method", async () => {
  const kv = await openKv();
  const call = createDatabase({ kv, models: { snapshot: User, orders: Order } });
  await expect(call).rejects.toMatchObject({ code: "KW_MODEL_INVALID" });
  await kv.close();
});
