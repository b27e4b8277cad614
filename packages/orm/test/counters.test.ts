import { setImmediate } from "node:timers/promises";
import { type EmbeddedKv, type Kv, type KvU64, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineModel,
  type MigrationProgress,
  migrate,
  migrationStatus,
} from "../src/index.js";
import { Crash, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

const Plain = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    list: z.string().optional(),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  indexes: { byList: { key: "list" }, byTag: { key: "tags", each: true } },
});
const Task = defineModel({
  ...Plain,
  count: true,
  indexes: {
    byList: { key: "list", count: true },
    byTag: { key: "tags", each: true, count: true },
  },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const openPlain = (on: Kv = kv) => createDatabase({ kv: on, models: { tasks: Plain } });
const open = (on: Kv = kv) => createDatabase({ kv: on, models: { tasks: Task } });

/** The counters that are kept, but those at 0. */
async function counters(): Promise<Record<string, bigint>> {
  const found: Record<string, bigint> = {};
  for await (const { key, value } of kv.list<KvU64>({ prefix: ["__keywright", "count"] })) {
    if (value.value !== 0n) found[key.slice(2).join("/")] = value.value;
  }
  return found;
}

/** The same by a scan of the rows. */
async function counted(): Promise<Record<string, bigint>> {
  const found: Record<string, bigint> = {};
  const add = (name: string) => {
    found[name] = (found[name] ?? 0n) + 1n;
  };
  for await (const { value } of kv.list<{ list?: string; tags: string[] }>({ prefix: ["tasks"] })) {
    add("tasks");
    if (value.list !== undefined) add(`tasks_by_list/${value.list}`);
    for (const tag of new Set(value.tags)) add(`tasks_by_tag/${tag}`);
  }
  return found;
}

const stateOf = async (name: string) => {
  const { value } = await kv.get<{ counters?: Record<string, string> }>([
    "__keywright",
    "catalog",
    "tasks",
  ]);
  return value?.counters?.[name] ?? "absent";
};

describe("kept from the first row", () => {
  it("follow what is created, changed and deleted", async () => {
    const db = await open();
    await db.tasks.create({ data: { id: "a", list: "x", tags: ["1", "2", "1"] } });
    await db.tasks.create({ data: { id: "b", list: "x" } });
    expect(await counters()).toEqual({
      tasks: 2n,
      "tasks_by_list/x": 2n,
      "tasks_by_tag/1": 1n,
      "tasks_by_tag/2": 1n,
    });
    await db.tasks.update({ where: { id: "a" }, data: { list: "y", tags: ["2", "3"] } });
    expect(await counters()).toEqual({
      tasks: 2n,
      "tasks_by_list/x": 1n,
      "tasks_by_list/y": 1n,
      "tasks_by_tag/2": 1n,
      "tasks_by_tag/3": 1n,
    });
    await db.tasks.update({ where: { id: "b" }, data: { list: { unset: true } } });
    await db.tasks.delete({ where: { id: "a" } });
    expect(await counters()).toEqual({ tasks: 1n });
  });

  it("do not follow a write that fails", async () => {
    const db = await open();
    await db.tasks.create({ data: { id: "a", list: "x" } });
    await rejection(db.tasks.create({ data: { id: "a", list: "x" } }));
    await rejection(db.tasks.update({ where: { id: "b" }, data: { list: "y" } }));
    await rejection(
      db.transaction(async (tx) => {
        await tx.tasks.create({ data: { id: "c", list: "x" } });
        throw new Error("given up");
      }),
    );
    expect(await counters()).toEqual(await counted());
  });

  it("are exact whatever several clients do at once", async () => {
    const ids = fc.constantFrom("a", "b", "c");
    const list = fc.option(fc.constantFrom("x", "y"), { nil: undefined });
    const tags = fc.array(fc.constantFrom("1", "2"), { maxLength: 3 });
    const write = fc.record({
      kind: fc.constantFrom("create", "update", "delete", "upsert", "transaction"),
      id: ids,
      list,
      tags,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(write, { maxLength: 6 }), { minLength: 3, maxLength: 3 }),
        async (clients) => {
          for await (const { key } of kv.list({ prefix: [] })) await kv.delete(key);
          const run = async (writes: (typeof clients)[number]) => {
            const db = await open();
            for (const { kind, id, list, tags } of writes) {
              const data = { id, tags, ...(list !== undefined && { list }) };
              const change = { tags, list: list === undefined ? { unset: true as const } : list };
              const writing =
                kind === "create"
                  ? db.tasks.create({ data })
                  : kind === "update"
                    ? db.tasks.update({ where: { id }, data: change })
                    : kind === "delete"
                      ? db.tasks.delete({ where: { id } })
                      : kind === "upsert"
                        ? db.tasks.upsert({ where: { id }, create: data, update: change })
                        : db.transaction(async (tx) => {
                            await tx.tasks.upsert({ where: { id }, create: data, update: change });
                            await tx.tasks.delete({ where: { id } });
                          });
              await writing.catch((error: { code?: string }) => {
                expect(["KW_UNIQUE_CONSTRAINT", "KW_ROW_NOT_FOUND"]).toContain(error.code);
              });
            }
          };
          await Promise.all(clients.map(run));
          expect(await counters()).toEqual(await counted());
        },
      ),
      { numRuns: 30 },
    );
  });
});

it("include the rows of a program that does not declare them", async () => {
  await open();
  const old = await openPlain();
  await old.tasks.create({ data: { id: "a", list: "x", tags: ["t"] } });
  expect(await counters()).toEqual(await counted());
});

describe("that are new to a model with rows", () => {
  const fill = async (rows: number) => {
    const db = await openPlain();
    for (let i = 0; i < rows; i++) {
      await db.tasks.create({
        data: { id: `r${String(i).padStart(4, "0")}`, list: `l${i % 3}`, tags: [`t${i % 2}`] },
      });
    }
    return db;
  };
  const expectBuilt = async () => {
    expect(await counters()).toEqual(await counted());
    expect(await stateOf("")).toBe("readable");
    for (const left of ["counted", "counting"]) {
      expect((await kv.list({ prefix: ["__keywright", left] }).next()).done).toBe(true);
    }
  };

  it("are not kept before they are built", async () => {
    await fill(3);
    const db = await open();
    await db.tasks.create({ data: { id: "x", list: "l0" } });
    await db.tasks.delete({ where: { id: "r0000" } });
    expect(await counters()).toEqual({});
    expect(await stateOf("")).toBe("absent");
  });

  it.each([
    ["the embedded database", (on: Kv) => on],
    ["a database with Deno KV's limits", denoKv],
  ])("are built by a migration on %s", async (_, wrap) => {
    await fill(20);
    expect((await migrate(await open(wrap(kv)))).status).toBe("done");
    await expectBuilt();
  });

  it("are built while others write, and count each write once", async () => {
    await fill(600);
    const db = await open();
    const builder = await open();
    let isBuilt = false;
    const write = async (client: number) => {
      for (let i = 0; !isBuilt; i++) {
        // A database in memory answers at once: the build waits for its turn of the event loop.
        if (i % 20 === 0) await setImmediate();
        const id = `r${String((i * 37 + client * 211) % 700).padStart(4, "0")}`;
        const data = { list: `l${i % 4}`, tags: [`t${i % 3}`, "all"] };
        await db.tasks.upsert({ where: { id }, create: { id, ...data }, update: data });
        if (i % 3 === 0) await db.tasks.delete({ where: { id } }).catch(() => undefined);
      }
    };
    const build = migrate(builder).finally(() => {
      isBuilt = true;
    });
    await Promise.all([build, write(0), write(1), write(2)]);
    await expectBuilt();
  });

  it("count a row that changes between the batch's look and its commit once, as it is then", async () => {
    const db = await fill(4);
    const moves = [
      async () => (await open()).tasks.update({ where: { id: "r0001" }, data: { list: "moved" } }),
      async () => (await open()).tasks.delete({ where: { id: "r0002" } }),
      async () => (await open()).tasks.create({ data: { id: "r0001b", list: "new" } }),
      async () => (await open()).tasks.update({ where: { id: "r0000" }, data: { list: "late" } }),
    ];
    // From the third commit on: the first takes the lease, the second makes the counters known.
    let commits = 0;
    const racing = interferingKv(kv, async () => {
      if (commits++ > 1) await moves.shift()?.();
    });
    expect((await migrate(await open(racing))).status).toBe("done");
    expect(moves).toEqual([]);
    await expectBuilt();
    await db.tasks.create({ data: { id: "z", list: "z" } });
    await expectBuilt();
  });

  it.each(["before", "after"] as const)(
    "are exact when the build dies %s any of its commits",
    async (moment) => {
      for (let at = 1; ; at++) {
        const own = await openKv();
        const outer = kv;
        kv = own;
        try {
          await fill(12);
          const dying = await open(crashingKv(denoKv(own), at, moment));
          const end = await migrate(dying).catch((error: unknown) => error);
          const db = await open();
          await db.tasks.update({ where: { id: "r0003" }, data: { list: "between" } });
          await db.tasks.delete({ where: { id: "r0009" } });
          await db.tasks.create({ data: { id: "r0000b", list: "between" } });
          expect((await migrate(db)).status).toBe("done");
          await expectBuilt();
          if (!(end instanceof Crash)) {
            expect(at).toBeGreaterThan(4);
            return;
          }
        } finally {
          kv = outer;
          await own.close();
        }
      }
    },
  );

  it("are built once by two runs at once", async () => {
    await fill(300);
    const runs = await Promise.all([migrate(await open()), migrate(await open())]);
    expect(runs.map(({ status }) => status)).toEqual(["done", "done"]);
    await expectBuilt();
  });

  /** Builds until its next commit is made, without those that only renew the lease. */
  const buildOneCommit = async () => {
    const stop = new AbortController();
    const stopping = interferingKv(kv, async (keys) => {
      if (keys.some(([, kind]) => kind !== "lease")) stop.abort();
    });
    const { status } = await migrate(await open(stopping), { signal: stop.signal });
    expect(status).toBe("stopped");
  };

  it("count a row once that a batch counts between its writer's look and commit", async () => {
    await fill(3);
    await buildOneCommit();
    let commits = 0;
    const racing = interferingKv(kv, async () => {
      if (commits++ === 0) await buildOneCommit();
    });
    const db = await open(racing);
    await db.tasks.update({ where: { id: "r0001" }, data: { list: "moved" } });
    expect(commits).toBe(2);
    expect(await counters()).toEqual(await counted());
    await migrate(db);
    await expectBuilt();
  });

  it("count a batch once that another run writes at the same time", async () => {
    await fill(3);
    await buildOneCommit();
    let commits = 0;
    const racing = interferingKv(kv, async () => {
      // The first takes the lease, the second would count a batch.
      if (commits++ !== 1) return;
      await kv.delete(["__keywright", "lease"]);
      expect((await migrate(await open())).status).toBe("done");
    });
    expect((await migrate(await open(racing))).status).toBe("lost");
    await expectBuilt();
  });

  it("stop at the signal and continue after the last batch", async () => {
    await fill(30);
    const stop = new AbortController();
    const onProgress = ({ phase, done }: MigrationProgress) => {
      if (phase === "building" && done > 0) stop.abort();
    };
    const options = { signal: stop.signal, onProgress };
    expect((await migrate(await open(denoKv(kv)), options)).status).toBe("stopped");
    expect(await stateOf("")).toBe("write-only");
    await migrate(await open());
    await expectBuilt();
  });

  it("let timers run while they are built, so that a signal is heard", async () => {
    const db = await openPlain();
    const data = Array.from({ length: 1000 }, (_, i) => ({ id: `r${i}` }));
    await db.tasks.createMany({ data });
    const [counting, stop] = [await open(), new AbortController()];
    setTimeout(() => stop.abort(), 0);
    expect((await migrate(counting, { signal: stop.signal })).status).toBe("stopped");
    await migrate(await open());
    await expectBuilt();
  });

  it.each([
    ["null", null],
    ["a string", "text"],
    ["no row of its schema", { id: "by hand", list: {}, tags: "none" }],
  ])("count what was written by hand and is %s as a row alone", async (_, value) => {
    await fill(3);
    const without = await counted();
    await kv.set(["tasks", "by hand"], value);
    expect((await migrate(await open())).status).toBe("done");
    expect(await counters()).toEqual({ ...without, tasks: 4n });
  });
});

it("leave no marks behind where their build is given up for good", async () => {
  const db = await openPlain();
  await db.tasks.createMany({ data: Array.from({ length: 600 }, (_, i) => ({ id: `t${i}` })) });
  const stop = new AbortController();
  const { status } = await migrate(await open(), {
    signal: stop.signal,
    onProgress: ({ done }) => done > 0 && stop.abort(),
  });
  expect(status).toBe("stopped");
  const isMarked = async () => {
    const marks = kv.list({ prefix: ["__keywright", "counted"] }, { limit: 1 });
    return (await marks.next()).done !== true;
  };
  expect(await isMarked()).toBe(true);
  expect(await migrate(await openPlain(), { accept: true })).toMatchObject({ status: "done" });
  expect(await isMarked()).toBe(false);
});

it("of rows that were written by hand are absent, like their indexes", async () => {
  await kv.set(["tasks", "a"], { id: "a", list: "x", tags: [] });
  await open();
  expect(await stateOf("")).toBe("absent");
  await migrate(await open());
  expect(await counters()).toEqual({ tasks: 1n, "tasks_by_list/x": 1n });
});

it("of an index that is renamed while they are built are counted again from the first row", async () => {
  const player = {
    name: "players",
    schema: z.object({ id: z.string(), name: z.string() }),
    primaryKey: "id",
  } as const;
  const Plain = defineModel({ ...player, indexes: { byName: { key: "name" } } });
  const plain = await createDatabase({ kv, models: { players: Plain } });
  await plain.players.createMany({
    data: Array.from({ length: 1200 }, (_, i) => ({ id: `${i}`, name: `Name ${i % 3}` })),
  });
  const Counted = defineModel({ ...player, indexes: { byName: { key: "name", count: true } } });
  const counted = await createDatabase({ kv, models: { players: Counted } });
  const stop = new AbortController();
  const stopped = await migrate(counted, {
    signal: stop.signal,
    onProgress: ({ done }) => {
      if (done > 0) stop.abort();
    },
  });
  expect(stopped.status).toBe("stopped");
  const Renamed = defineModel({
    ...player,
    indexes: { byTitle: { key: "name", count: true, prefix: "players_by_name" } },
  });
  const db = await createDatabase({ kv, models: { players: Renamed } });
  expect((await migrate(db, { accept: true })).status).toBe("done");
  const [status] = (await migrationStatus(db)).models;
  expect(status?.counters).toMatchObject({ byTitle: { state: "readable" } });
  expect(await db.players.count({ where: { name: "Name 1" } })).toBe(400);
});
