import {
  type EmbeddedKv,
  type Kv,
  type KvEntryMaybe,
  type KvKey,
  type KvListSelector,
  KvU64,
  openKv,
} from "@keywright/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  hasMany,
  type QueryEvent,
} from "../src/index.js";
import { countingKv } from "./counting-kv.js";
import { countingWatches } from "./counting-watches.js";
import { denoKv, withoutPages, withoutViews } from "./faulty-kv.js";
import { Reports } from "./live-reports.js";
import { openDenoKv } from "./open-deno-kv.js";
import { rejection } from "./user-model.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    list: z.string(),
    rank: z.number(),
    code: z.string(),
    done: z.boolean().default(false),
  }),
  primaryKey: "id",
  indexes: {
    byList: { key: ["list", "rank"] },
    byCode: { key: "code", unique: true },
  },
  live: true,
});

const Owner = defineModel({
  name: "owners",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
  relations: { errands: hasMany("errands", "ownerId") },
  live: true,
});

const Errand = defineModel({
  name: "errands",
  schema: z.object({ id: z.string(), ownerId: z.string(), title: z.string() }),
  primaryKey: "id",
  indexes: { byOwner: { key: "ownerId" } },
  relations: { owner: belongsTo("owners", "ownerId") },
  live: true,
});

type Db = Database<{ tasks: typeof Task }>;

/** The same without a record of changes. */
const QuietTask = defineModel({ ...Task, live: false });

/** The same in a place of its own, with an index of copies. */
const CopiedTask = defineModel({
  ...Task,
  name: "copied_tasks",
  indexes: { byList: { key: ["list", "rank"], store: "copy" } },
});

const task = (id: string, list: string, rank: number) => ({ id, list, rank, code: `code-${id}` });
const home = { where: { list: "home" } } as const;
/** In milliseconds: long enough for a first read on a machine that does other work as well. */
const untilExpiry = 1_500;
const titles = (rows: readonly { id: string }[] | "the end") =>
  rows === "the end" ? rows : rows.map(({ id }) => id);

/** Databases that tell of ranges, and databases where marks stand for them. */
const databases: [name: string, open: () => Promise<Kv>][] = [
  ["a database in memory", () => openKv()],
  ["a database in Deno's mode", () => openKv(":memory:", { compat: "deno" })],
  ["the interface of Deno KV alone", async () => denoKv(await openKv())],
  ["@deno/kv", openDenoKv],
];

interface Interference {
  /** Called before the first entry of each `list`. */
  readonly beforeList: (selector: KvListSelector) => Promise<void>;
  /** Called before each report of `watch`. */
  readonly beforeNews: () => Promise<void>;
}

function interferingReads(kv: Kv, { beforeList, beforeNews }: Interference): Kv {
  const list = (...args: Parameters<Kv["list"]>) => {
    // Begun late, because a list may read the snapshot of its beginning.
    const begin = async () => {
      await beforeList(args[0]);
      return kv.list(...args);
    };
    let begun: ReturnType<typeof begin> | undefined;
    return {
      async next() {
        begun ??= begin();
        const entries = await begun;
        return await entries.next();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };
  const watch: Kv["watch"] = (keys, options) =>
    kv.watch(keys, options).pipeThrough(
      new TransformStream({
        async transform(news, controller) {
          await beforeNews();
          controller.enqueue(news);
        },
      }),
    ) as never;
  return new Proxy(withoutPages(kv), {
    get(target, property) {
      if (property === "list") return list;
      if (property === "watch") return watch;
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** The reads that live queries have made. */
class WatchEvents {
  readonly all: QueryEvent[] = [];
  #wake: () => void = () => undefined;

  add(event: QueryEvent): void {
    if (event.operation !== "watch") return;
    this.all.push(event);
    this.#wake();
  }

  /** Resolves when there are so many. */
  async count(count: number): Promise<void> {
    while (this.all.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function withTasks(
  body: (db: Db, kv: EmbeddedKv, events: WatchEvents) => Promise<void>,
): Promise<void> {
  const kv = await openKv();
  const events = new WatchEvents();
  const onQuery = (event: QueryEvent) => events.add(event);
  try {
    await body(await createDatabase({ kv, models: { tasks: Task }, onQuery }), kv, events);
  } finally {
    await kv.close();
  }
}

/** What a call throws, as a promise that rejects with it. */
async function thrownBy(call: () => unknown): Promise<unknown> {
  return call();
}

it("shows a row once that moves from one value of `in` to another between their reads", async () => {
  const kv = denoKv(await openKv());
  try {
    // A pointer of the first value would lead to a row that has left it.
    const db = await createDatabase({ kv, models: { tasks: CopiedTask } });
    await db.tasks.create({ data: task("a", "home", 1) });
    await db.tasks.create({ data: task("b", "work", 1) });
    let hasMoved = false;
    let release: () => void = () => undefined;
    let held = Promise.resolve();
    const torn = await createDatabase({
      kv: interferingReads(kv, {
        async beforeList(selector) {
          if (hasMoved || !JSON.stringify(selector).includes("work")) return;
          hasMoved = true;
          // Without the news of the move, the query does not read again.
          held = new Promise((resolve) => {
            release = resolve;
          });
          await db.tasks.update({ where: { id: "a" }, data: { list: "work" } });
        },
        beforeNews: () => held,
      }),
      models: { tasks: CopiedTask },
    });
    const query = { where: { list: { in: ["home", "work"] } } } as const;
    expect(titles((await torn.tasks.findMany(query)).items)).toEqual(["a", "b"]);
    expect(hasMoved).toBe(true);
    release();
    await db.tasks.update({ where: { id: "a" }, data: { list: "home" } });
    hasMoved = false;
    const rows = new Reports(torn.tasks.watchMany(query));
    const first = await rows.next();
    expect(hasMoved).toBe(true);
    expect(first).toMatchObject([{ id: "a", list: "work" }, { id: "b" }]);
    release();
    await db.tasks.update({ where: { id: "b" }, data: { list: "home" } });
    expect(titles(await rows.nextThat((report) => report[0]?.id === "b"))).toEqual(["b", "a"]);
    await rows.cancel();
  } finally {
    await kv.close();
  }
});

describe.each(databases)("a live query on %s", (_name, open) => {
  const withDb = async (body: (db: Db, kv: Kv) => Promise<void>) => {
    const kv = await open();
    try {
      await body(await createDatabase({ kv, models: { tasks: Task } }), kv);
    } finally {
      await kv.close();
    }
  };

  it("gives a row at once, when it changes, when it goes and when it comes again", async () => {
    await withDb(async (db) => {
      const row = new Reports(db.tasks.watch({ where: { id: "a" } }));
      expect(await row.next()).toBe(null);
      const created = await db.tasks.create({ data: task("a", "home", 1) });
      expect(await row.next()).toEqual(created);
      const updated = await db.tasks.update({ where: { id: "a" }, data: { rank: 2 } });
      expect(await row.next()).toEqual(updated);
      await db.tasks.delete({ where: { id: "a" } });
      expect(await row.next()).toBe(null);
      await db.tasks.create({ data: task("a", "work", 3) });
      expect(await row.next()).toMatchObject({ list: "work" });
      await row.cancel();
    });
  });

  it("gives the row that has a unique value, also where another one takes it", async () => {
    await withDb(async (db) => {
      await db.tasks.create({ data: task("a", "home", 1) });
      const row = new Reports(db.tasks.watch({ where: { code: "code-a" } }));
      expect(await row.next()).toMatchObject({ id: "a" });
      await db.tasks.update({ where: { id: "a" }, data: { code: "other" } });
      expect(await row.next()).toBe(null);
      await db.tasks.create({ data: { ...task("b", "work", 2), code: "code-a" } });
      expect(await row.next()).toMatchObject({ id: "b", rank: 2 });
      await db.tasks.update({ where: { id: "b" }, data: { rank: 3 } });
      expect(await row.next()).toMatchObject({ id: "b", rank: 3 });
      await row.cancel();
    });
  });

  it("gives rows at once, and when one comes, changes, moves or goes", async () => {
    await withDb(async (db) => {
      await db.tasks.create({ data: task("a", "home", 2) });
      const rows = new Reports(db.tasks.watchMany(home));
      expect(titles(await rows.next())).toEqual(["a"]);
      await db.tasks.create({ data: task("b", "home", 3) });
      expect(titles(await rows.next())).toEqual(["a", "b"]);
      await db.tasks.update({ where: { id: "a" }, data: { done: true } });
      expect(await rows.next()).toMatchObject([{ id: "a", done: true }, { id: "b" }]);
      await db.tasks.update({ where: { id: "b" }, data: { rank: 1 } });
      expect(titles(await rows.next())).toEqual(["b", "a"]);
      await db.tasks.update({ where: { id: "a" }, data: { list: "work" } });
      expect(titles(await rows.next())).toEqual(["b"]);
      await db.tasks.delete({ where: { id: "b" } });
      expect(titles(await rows.next())).toEqual([]);
      await rows.cancel();
    });
  });

  it("gives the rows that come to pass a filter, and those that come into the page", async () => {
    await withDb(async (db) => {
      for (const [rank, id] of ["a", "b", "c", "d"].entries()) {
        await db.tasks.create({ data: task(id, "home", rank) });
      }
      const filter = (row: { done: boolean }) => !row.done;
      const rows = new Reports(db.tasks.watchMany({ ...home, filter, take: 2 }));
      expect(titles(await rows.next())).toEqual(["a", "b"]);
      await db.tasks.update({ where: { id: "a" }, data: { done: true } });
      expect(titles(await rows.next())).toEqual(["b", "c"]);
      await db.tasks.delete({ where: { id: "c" } });
      expect(titles(await rows.next())).toEqual(["b", "d"]);
      await db.tasks.update({ where: { id: "a" }, data: { done: false } });
      expect(titles(await rows.next())).toEqual(["a", "b"]);
      await rows.cancel();
    });
  });

  it("sees what other handles of the database write, in any order of its rows", async () => {
    await withDb(async (db, kv) => {
      const other = await createDatabase({ kv, models: { tasks: Task } });
      const query = { where: { list: { gte: "a" } }, orderBy: { list: "desc" } } as const;
      const rows = new Reports(db.tasks.watchMany(query));
      expect(titles(await rows.next())).toEqual([]);
      await other.tasks.create({ data: task("a", "home", 1) });
      expect(titles(await rows.next())).toEqual(["a"]);
      await other.tasks.create({ data: task("b", "work", 1) });
      expect(titles(await rows.next())).toEqual(["b", "a"]);
      await rows.cancel();
    });
  });

  it("gives rows with those of other models again when one of these changes", async () => {
    const kv = await open();
    try {
      const db = await createDatabase({ kv, models: { owners: Owner, errands: Errand } });
      await db.owners.create({ data: { id: "o", name: "Ada" } });
      await db.errands.create({ data: { id: "e", ownerId: "o", title: "bread" } });
      const errands = new Reports(
        db.errands.watchMany({ where: { ownerId: "o" }, include: { owner: true } }),
      );
      const owner = new Reports(
        db.owners.watch({ where: { id: "o" }, include: { errands: true } }),
      );
      expect(await errands.next()).toMatchObject([{ id: "e", owner: { name: "Ada" } }]);
      expect(await owner.next()).toMatchObject({ id: "o", errands: [{ title: "bread" }] });
      await db.owners.update({ where: { id: "o" }, data: { name: "Eve" } });
      expect(await errands.next()).toMatchObject([{ id: "e", owner: { name: "Eve" } }]);
      expect(await owner.next()).toMatchObject({ name: "Eve", errands: [{ title: "bread" }] });
      await db.errands.update({ where: { id: "e" }, data: { title: "milk" } });
      expect(await errands.next()).toMatchObject([{ title: "milk", owner: { name: "Eve" } }]);
      expect(await owner.next()).toMatchObject({ name: "Eve", errands: [{ title: "milk" }] });
      await errands.cancel();
      await owner.cancel();
    } finally {
      await kv.close();
    }
  });

  it("gives no state that is half of one and half of another", async () => {
    const kv = await open();
    try {
      const other: Db = await createDatabase({ kv, models: { tasks: Task } });
      await other.tasks.create({ data: task("a", "home", 1) });
      const interfered = afterFirstList(kv, () =>
        other.tasks.update({ where: { id: "a" }, data: { rank: 2 } }),
      );
      const db: Db = await createDatabase({ kv: interfered, models: { tasks: Task } });
      const rows = new Reports(db.tasks.watchMany(home));
      // The entry that was listed leads to the row no more; without another look there would be
      // none.
      expect(await rows.next()).toMatchObject([{ id: "a", rank: 2 }]);
      await rows.cancel();
    } finally {
      await kv.close();
    }
  });

  it("misses no change that comes while it is read for the first time", async () => {
    const kv = await open();
    try {
      const other: Db = await createDatabase({ kv, models: { tasks: Task } });
      await other.tasks.create({ data: task("a", "home", 1) });
      const interfered = afterFirstList(kv, () =>
        other.tasks.create({ data: task("b", "home", 2) }),
      );
      const db: Db = await createDatabase({ kv: interfered, models: { tasks: Task } });
      const rows = new Reports(db.tasks.watchMany(home));
      expect(titles(await rows.nextThat(({ length }) => length === 2))).toEqual(["a", "b"]);
      await rows.cancel();
    } finally {
      await kv.close();
    }
  });

  it("ends when the database is closed, whether somebody waits for it or not", async () => {
    const kv = await open();
    const db: Db = await createDatabase({ kv, models: { tasks: Task } });
    const waiting = new Reports(db.tasks.watchMany(home));
    const idle = new Reports(db.tasks.watch({ where: { id: "a" } }));
    const unread = new Reports(db.tasks.watchMany(home));
    expect(titles(await waiting.next())).toEqual([]);
    expect(await idle.next()).toBe(null);
    const end = waiting.next();
    await kv.close();
    expect(await end).toBe("the end");
    expect(await idle.next()).toBe("the end");
    expect(await unread.next()).toBe("the end");
  });

  it("comes to the rows that findMany finds, whatever was written, and gives no state twice", async () => {
    const id = fc.constantFrom("a", "b", "c", "d");
    const write = fc.record({
      id,
      list: fc.constantFrom("home", "work"),
      rank: fc.nat(3),
      done: fc.boolean(),
      kind: fc.constantFrom("put", "put", "delete"),
    });
    const query = fc.constantFrom(
      home,
      { where: { list: "home", rank: { gte: 1, lt: 3 } } },
      { where: { list: "home" }, take: 2, filter: (row: { done: boolean }) => row.done },
      { where: { list: "work" }, orderBy: { rank: "desc" }, take: 1 },
      { where: { id: { gte: "b" } }, select: { id: true, rank: true } },
    );
    await fc.assert(
      fc.asyncProperty(query, fc.array(write, { maxLength: 12 }), async (part, writes) => {
        await withDb(async (db) => {
          const asked = { ...part, withVersionstamp: true } as never;
          const reports = new Reports<readonly unknown[]>(db.tasks.watchMany(asked));
          const seen: string[] = [JSON.stringify(await reports.next())];
          for (const { kind, ...data } of writes) {
            await db.tasks.delete({ where: { id: data.id } }).catch(() => undefined);
            if (kind === "delete") continue;
            await db.tasks.create({ data: { ...data, code: `code-${data.id}` } });
          }
          const { items } = await db.tasks.findMany(asked);
          const last = JSON.stringify(items);
          while (seen.at(-1) !== last) seen.push(JSON.stringify(await reports.next()));
          for (const [i, state] of seen.entries()) if (i > 0) expect(state).not.toBe(seen[i - 1]);
          await reports.cancel();
        });
      }),
      { numRuns: 15 },
    );
  });
});

it("sees a row go when it expires where the database does not tell when that is", async () => {
  const kv = await openKv();
  const hidden = <T>({ expireAt: _, ...entry }: KvEntryMaybe<T> & { expireAt?: number }) =>
    entry as KvEntryMaybe<T>;
  const deno = denoKv(kv);
  const untold: Kv = {
    ...deno,
    // What is not told when it expires is not told of when it does.
    watch: () => new ReadableStream(),
    get: (async (key: KvKey) => hidden(await deno.get(key))) as Kv["get"],
    getMany: (async (keys: readonly KvKey[]) =>
      (await deno.getMany<unknown[]>(keys)).map(hidden)) as Kv["getMany"],
  };
  try {
    const db: Db = await createDatabase({ kv: untold, models: { tasks: Task } });
    await db.tasks.create({ data: task("a", "home", 1), expireIn: untilExpiry });
    await db.tasks.create({ data: task("b", "home", 2) });
    const rows = new Reports(db.tasks.watchMany(home));
    const row = new Reports(db.tasks.watch({ where: { id: "a" } }));
    expect(titles(await rows.next())).toEqual(["a", "b"]);
    expect(await row.next()).toMatchObject({ id: "a" });
    expect(titles(await rows.next())).toEqual(["b"]);
    expect(await row.next()).toBe(null);
    await rows.cancel();
    await row.cancel();
  } finally {
    await kv.close();
  }
});

/**
 * A database that has something done once, when the entries of a `list` have been read and not been
 * looked at.
 */
function afterFirstList(kv: Kv, interfere: () => Promise<unknown>): Kv {
  let isFirst = true;
  return new Proxy(withoutViews(kv), {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (property !== "list") return typeof member === "function" ? member.bind(target) : member;
      return (...args: Parameters<Kv["list"]>) => {
        const entries = target.list(...args);
        const next = entries.next.bind(entries);
        entries.next = async () => {
          const result = await next();
          if (isFirst) {
            isFirst = false;
            await interfere();
          }
          return result;
        };
        return entries;
      };
    },
  });
}

/** A database that tells of no change. */
function silent(kv: EmbeddedKv): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "watchRange") return () => new ReadableStream();
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Resolves when a commit that changed a key has been told of. */
async function told(kv: EmbeddedKv, key: KvKey, write: () => Promise<unknown>): Promise<void> {
  const changes = new Reports(kv.watchRange([{ start: key, end: [...key, new Uint8Array()] }]));
  await write();
  await changes.next();
  await changes.cancel();
}

describe("a live query on a shared database whose watch reports late", () => {
  it("gives no state without a row that a commit has moved between its reads", async () => {
    const kv = await openKv();
    try {
      const other: Db = await createDatabase({ kv, models: { tasks: Task } });
      await other.tasks.create({ data: task("a", "home", 1) });
      const late = new Proxy(kv, {
        get(target, property) {
          if (property === "isShared") return true;
          if (property === "watchRange") return () => new ReadableStream();
          const member: unknown = Reflect.get(target, property, target);
          return typeof member === "function" ? member.bind(target) : member;
        },
      });
      const interfered = afterFirstList(late, () =>
        other.tasks.update({ where: { id: "a" }, data: { rank: 2 } }),
      );
      const db: Db = await createDatabase({ kv: interfered, models: { tasks: Task } });
      const rows = new Reports(db.tasks.watchMany(home));
      expect(await rows.next()).toMatchObject([{ id: "a", rank: 2 }]);
      await rows.cancel();
      // An entry that never led to a row does not stop the reports.
      await kv.set(["tasks_by_list", "left", 1, "none"], "none");
      const left = new Reports(db.tasks.watchMany({ where: { list: "left" } }));
      expect(await left.next()).toEqual([]);
      await left.cancel();
    } finally {
      await kv.close();
    }
  });
});

describe("a live query on a database of this process", () => {
  it("is read again only where a change concerns it", async () => {
    await withTasks(async (db, kv, events) => {
      await db.tasks.create({ data: task("a", "home", 1) });
      const filter = (row: { done: boolean }) => !row.done;
      const rows = new Reports(db.tasks.watchMany({ where: { list: "home" }, filter }));
      const row = new Reports(db.tasks.watch({ where: { id: "a" } }));
      expect(titles(await rows.next())).toEqual(["a"]);
      expect(await row.next()).toMatchObject({ id: "a" });
      const nextRows = rows.next();
      const nextRow = row.next();
      const work = task("w", "work", 1);
      await told(kv, ["tasks", "w"], () => db.tasks.create({ data: work }));
      await told(kv, ["tasks", "w"], () =>
        db.tasks.update({ where: { id: "w" }, data: { done: true } }),
      );
      expect(events.all).toHaveLength(2);
      await db.tasks.update({ where: { id: "a" }, data: { rank: 5 } });
      expect(await nextRows).toMatchObject([{ id: "a", rank: 5 }]);
      expect(await nextRow).toMatchObject({ id: "a", rank: 5 });
      expect(events.all).toHaveLength(4);
      expect(events.all.map(({ operation, model }) => [operation, model])).toEqual(
        Array(4).fill(["watch", "tasks"]),
      );
      await rows.cancel();
      await row.cancel();
    });
  });

  it("reports changes that come faster than they are read as one", async () => {
    await withTasks(async (db, _kv, events) => {
      const rows = new Reports(db.tasks.watchMany(home));
      expect(titles(await rows.next())).toEqual([]);
      for (let rank = 0; rank < 20; rank++) {
        await db.tasks.create({ data: task(`t${rank}`, "home", rank) });
      }
      expect(await rows.next()).toHaveLength(20);
      expect(events.all).toHaveLength(2);
      await rows.cancel();
    });
  });

  it("gives the state at the time when it is read first, and nothing before", async () => {
    await withTasks(async (db, _kv, events) => {
      const rows = new Reports(db.tasks.watchMany(home));
      await db.tasks.create({ data: task("a", "home", 1) });
      expect(events.all).toEqual([]);
      expect(titles(await rows.next())).toEqual(["a"]);
      await rows.cancel();
    });
  });

  it("sees rows that are written by hand, with their index entries or before or after them", async () => {
    await withTasks(async (db, kv) => {
      const rows = new Reports(db.tasks.watchMany(home));
      const row = new Reports(db.tasks.watch({ where: { code: "code-c" } }));
      expect(titles(await rows.next())).toEqual([]);
      expect(await row.next()).toBe(null);
      const byHand = (id: string, rank: number) => ({ ...task(id, "home", rank), done: false });
      await kv
        .atomic()
        .set(["tasks", "a"], byHand("a", 1))
        .set(["tasks_by_list", "home", 1, "a"], "a")
        .commit();
      expect(titles(await rows.next())).toEqual(["a"]);
      await kv.set(["tasks", "b"], byHand("b", 2));
      await kv.set(["tasks_by_list", "home", 2, "b"], "b");
      expect(titles(await rows.next())).toEqual(["a", "b"]);
      const next = rows.next();
      const entry = ["tasks_by_list", "home", 3, "c"];
      await told(kv, entry, () => kv.set(entry, "c"));
      await told(kv, ["tasks_by_code", "code-c"], () => kv.set(["tasks_by_code", "code-c"], "c"));
      await kv.set(["tasks", "c"], byHand("c", 3));
      expect(titles(await next)).toEqual(["a", "b", "c"]);
      expect(await row.next()).toMatchObject({ id: "c" });
      await kv.delete(["tasks_by_list", "home", 1, "a"]);
      expect(titles(await rows.next())).toEqual(["b", "c"]);
      await rows.cancel();
      await row.cancel();
    });
  });

  it("sees a row go when it expires, whether it is swept or not", async () => {
    await withTasks(async (_db, kv) => {
      const db: Db = await createDatabase({ kv: silent(kv), models: { tasks: Task } });
      const expireIn = untilExpiry;
      await kv
        .atomic()
        .set(["tasks", "a"], task("a", "home", 1), { expireIn })
        .set(["tasks_by_list", "home", 1, "a"], "a", { expireIn })
        .commit();
      const rows = new Reports(db.tasks.watchMany(home));
      const row = new Reports(db.tasks.watch({ where: { id: "a" } }));
      expect(titles(await rows.next())).toEqual(["a"]);
      expect(await row.next()).toMatchObject({ id: "a" });
      expect(titles(await rows.next())).toEqual([]);
      expect(await row.next()).toBe(null);
      await rows.cancel();
      await row.cancel();
    });
  });

  it("reads no row for a change that cannot bring it in: not one for each live query", async () => {
    const kv = await openKv();
    try {
      const db: Db = await createDatabase({ kv, models: { tasks: Task } });
      const { kv: counted, calls } = countingKv(kv);
      const watching: Db = await createDatabase({ kv: counted, models: { tasks: Task } });
      const lists = Array.from({ length: 20 }, (_, i) => `list ${i}`);
      for (const list of lists) await db.tasks.create({ data: task(list, list, 1) });
      const watched = lists.map(
        (list) => new Reports(watching.tasks.watchMany({ where: { list }, take: 1 })),
      );
      for (const reports of watched) await reports.next();
      const waiting = watched.map((reports) => reports.next());
      const before = calls.get + calls.getMany + calls.list;
      await told(kv, ["tasks", "list 0"], () =>
        db.tasks.update({ where: { id: "list 0" }, data: { done: true } }),
      );
      expect(await waiting[0]).toMatchObject([{ done: true }]);
      // Those whose rows these are: a range, and a row.
      expect(calls.get + calls.getMany + calls.list - before).toBe(2);
      for (const list of lists) {
        await db.tasks.update({ where: { id: list }, data: { rank: 2 } });
      }
      for (const reports of waiting.slice(1)) expect(await reports).toMatchObject([{ rank: 2 }]);
      for (const reports of watched) await reports.cancel();
    } finally {
      await kv.close();
    }
  });

  it("watches nothing any more when it is cancelled, when its read fails, and when it is closed", async () => {
    const kv = await openKv();
    try {
      const counted = countingWatches(kv);
      const db: Db = await createDatabase({ kv: counted.kv, models: { tasks: Task } });
      const rows = new Reports(db.tasks.watchMany(home));
      const row = new Reports(db.tasks.watch({ where: { code: "code-a" } }));
      const limited = new Reports(db.tasks.watchMany({ ...home, maxReads: 2 }));
      await Promise.all([rows.next(), row.next(), limited.next()]);
      expect(counted.open).toBe(3);
      await db.tasks.create({ data: task("a", "home", 1) });
      await row.next();
      expect(counted.open).toBe(3);
      const waiting = rows.next();
      await rows.cancel();
      expect(await waiting).toBe("the end");
      await row.cancel();
      expect(counted.open).toBe(1);
      await db.tasks.create({ data: task("b", "home", 2) });
      await db.tasks.create({ data: task("c", "home", 3) });
      expect(await rejection(limited.nextThat(() => false))).toMatchObject({
        code: "KW_READ_LIMIT",
        operation: "watch",
        maxReads: 2,
      });
      expect(counted.open).toBe(0);
    } finally {
      await kv.close();
    }
  });

  it("compares what select leaves of the rows, and whole rows with their versionstamps", async () => {
    await withTasks(async (db, kv, events) => {
      await db.tasks.create({ data: task("a", "home", 1) });
      const ranks = new Reports(
        db.tasks.watchMany({ where: { list: "home" }, select: { rank: true } }),
      );
      expect(await ranks.next()).toEqual([{ rank: 1 }]);
      const next = ranks.next();
      await db.tasks.update({ where: { id: "a" }, data: { done: true } });
      await events.count(2);
      await db.tasks.update({ where: { id: "a" }, data: { rank: 2 } });
      expect(await next).toEqual([{ rank: 2 }]);
      await ranks.cancel();
      const versions = new Reports(db.tasks.watch({ where: { id: "a" }, withVersionstamp: true }));
      const { versionstamp } = await kv.get(["tasks", "a"]);
      expect(await versions.next()).toMatchObject({ row: { rank: 2 }, versionstamp });
      await versions.cancel();
    });
  });

  it("is refused within a transaction, and where no index serves it", async () => {
    await withTasks(async (db) => {
      await db.transaction(async (tx) => {
        for (const begin of [
          () => tx.tasks.watch({ where: { id: "a" } }),
          () => tx.tasks.watchMany(home),
        ]) {
          expect(await rejection(thrownBy(begin))).toMatchObject({
            code: "KW_ARGUMENT_INVALID",
            operation: "watch",
          });
        }
      });
      const unserved = { where: { done: true } } as never;
      expect(await rejection(thrownBy(() => db.tasks.watchMany(unserved)))).toMatchObject({
        code: "KW_QUERY_UNINDEXED",
        operation: "watch",
      });
    });
  });
});

describe("a live query where ranges are not told of", () => {
  it("needs a model with live: true for many rows, and none for one", async () => {
    const kv = denoKv(await openKv());
    try {
      const db = await createDatabase({ kv, models: { tasks: QuietTask } });
      expect(await rejection(thrownBy(() => db.tasks.watchMany(home)))).toMatchObject({
        code: "KW_LIVE_UNAVAILABLE",
        model: "tasks",
        operation: "watch",
      });
      const row = new Reports(db.tasks.watch({ where: { id: "a" } }));
      expect(await row.next()).toBe(null);
      await db.tasks.create({ data: task("a", "home", 1) });
      expect(await row.next()).toMatchObject({ id: "a" });
      await row.cancel();
    } finally {
      await kv.close();
    }
  });

  it("needs live: true of the models that it includes, too", async () => {
    const kv = denoKv(await openKv());
    try {
      const QuietOwner = defineModel({ ...Owner, live: false });
      const db = await createDatabase({ kv, models: { owners: QuietOwner, errands: Errand } });
      const query = { where: { ownerId: "o" }, include: { owner: true } } as const;
      expect(await rejection(thrownBy(() => db.errands.watchMany(query)))).toMatchObject({
        code: "KW_LIVE_UNAVAILABLE",
        model: "owners",
      });
    } finally {
      await kv.close();
    }
  });

  it("watches one entry of a row, however many unique indexes have the same field", async () => {
    const watched: number[] = [];
    const memory = await openKv();
    const kv: Kv = {
      ...denoKv(memory),
      watch: (keys, options) => {
        watched.push(keys.length);
        return memory.watch(keys, options);
      },
    };
    try {
      const unique = { key: "name", unique: true } as const;
      const Named = defineModel({
        name: "named",
        schema: z.object({ id: z.string(), name: z.string() }),
        primaryKey: "id",
        indexes: { byName: unique, byText: unique, byTitle: unique },
      });
      const db = await createDatabase({ kv, models: { named: Named } });
      const row = new Reports(db.named.watch({ where: { name: "x" } }));
      expect(await row.next()).toBe(null);
      await db.named.create({ data: { id: "1", name: "x" } });
      expect(await row.next()).toMatchObject({ id: "1" });
      await db.named.update({ where: { id: "1" }, data: { name: "y" } });
      expect(await row.next()).toBe(null);
      await row.cancel();
      // The catalog, the index entry and the row.
      expect(Math.max(...watched)).toBe(3);
    } finally {
      await memory.close();
    }
  });

  it("watches as many marks as the database takes, or that of the model", async () => {
    const watched: number[] = [];
    const memory = await openKv();
    const kv: Kv = {
      ...denoKv(memory),
      watch: (keys, options) => {
        watched.push(keys.length);
        return memory.watch(keys, options);
      },
    };
    try {
      const db = await createDatabase({ kv, models: { tasks: Task } });
      const lists = (count: number) => Array.from({ length: count }, (_, i) => `list ${i}`);
      const few = new Reports(db.tasks.watchMany({ where: { list: { in: lists(3) } } }));
      const many = new Reports(db.tasks.watchMany({ where: { list: { in: lists(50) } } }));
      expect(await few.next()).toEqual([]);
      expect(await many.next()).toEqual([]);
      expect(watched).toEqual([4, 2]);
      await db.tasks.create({ data: task("a", "list 40", 1) });
      expect(titles(await many.next())).toEqual(["a"]);
      await few.cancel();
      await many.cancel();
    } finally {
      await memory.close();
    }
  });

  it.each([7, 8, 9, 10])(
    "watches within the limit with %i values and an include",
    async (count) => {
      const kv = denoKv(await openKv());
      try {
        const db = await createDatabase({ kv, models: { owners: Owner, errands: Errand } });
        const ids = Array.from({ length: count }, (_, i) => `owner ${i}`);
        for (const id of ids) await db.owners.create({ data: { id, name: "before" } });
        const errands = new Reports(
          db.errands.watchMany({ where: { ownerId: { in: ids } }, include: { owner: true } }),
        );
        expect(await errands.next()).toEqual([]);
        const ownerId = ids.at(-1)!;
        await db.errands.create({ data: { id: "e", ownerId, title: "milk" } });
        expect(await errands.next()).toMatchObject([{ id: "e", owner: { name: "before" } }]);
        await db.owners.update({ where: { id: ownerId }, data: { name: "after" } });
        expect(await errands.next()).toMatchObject([{ id: "e", owner: { name: "after" } }]);
        await errands.cancel();
      } finally {
        await kv.close();
      }
    },
  );
});

it("a program that does not ask for a record of changes keeps it where another does", async () => {
  const kv = await openKv(":memory:", { compat: "deno" });
  try {
    const schema = z.object({ id: z.string() });
    const Plain = defineModel({ name: "things", schema, primaryKey: "id" });
    const plain = await createDatabase({ kv, models: { things: Plain } });
    await plain.things.create({ data: { id: "1" } });
    const marks = async () => {
      const mark = await kv.get(["__keywright", "changes", "things"]);
      return mark.value instanceof KvU64 ? mark.value.value : 0n;
    };
    expect(await marks()).toBe(0n);
    const Live = defineModel({ name: "things", schema, primaryKey: "id", live: true });
    const live = await createDatabase({ kv, models: { things: Live } });
    await live.things.create({ data: { id: "2" } });
    expect(await marks()).toBe(1n);
    await plain.things.create({ data: { id: "3" } });
    expect(await marks()).toBe(2n);
  } finally {
    await kv.close();
  }
});
