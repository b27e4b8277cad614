import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { dropDerived } from "../src/derived/build-derived.js";
import { createDatabase, defineModel, type MigrationProgress } from "../src/index.js";
import type { CatalogEntry, IndexState } from "../src/state/catalog/catalog-entry.js";
import { Crash, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";
import { contextOf, withRun } from "./migration-run.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Small = defineModel({
  name: "tasks",
  schema: z.object({ id: z.string(), list: z.string(), tags: z.array(z.string()) }),
  primaryKey: "id",
  count: true,
  indexes: { byList: { key: "list" } },
});
const Task = defineModel({
  ...Small,
  indexes: {
    ...Small.indexes,
    byTag: { key: "tags", each: true, count: true },
    byName: { key: "id", unique: true },
  },
});
const catalogKey = ["__keywright", "catalog", "tasks"];

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const openSmall = (on: Kv = kv) => createDatabase({ kv: on, models: { tasks: Small } });
const openTask = () => createDatabase({ kv, models: { tasks: Task } });

async function catalog(): Promise<CatalogEntry> {
  const { value } = await kv.get<CatalogEntry>(catalogKey);
  if (value === null) throw new Error("no catalog");
  return value;
}

/** Rows with all indexes, of which two are then to go. */
async function fillAndDrop(rows: number): Promise<void> {
  const db = await openTask();
  const data = Array.from({ length: rows }, (_, i) => ({
    id: `r${i}`,
    list: `l${i % 3}`,
    tags: ["all", `t${i % 5}`],
  }));
  await db.tasks.createMany({ data });
  await setStates({ byTag: "dropping", byName: "dropping" });
  await kv.set(["__keywright", "duplicates", "tasks", "byName", "x", "y"], "left");
}

async function setStates(states: Readonly<Record<string, IndexState>>): Promise<void> {
  const entry = await catalog();
  const changed = Object.entries(states).map(([name, state]) => {
    const index = entry.indexes[name];
    if (index === undefined) throw new Error(name);
    return [name, { ...index, state }] as const;
  });
  const counters = { ...entry.counters, byTag: states.byTag ?? "readable" };
  await kv.set(catalogKey, {
    ...entry,
    counters,
    indexes: { ...entry.indexes, ...Object.fromEntries(changed) },
  });
}

async function count(prefix: readonly string[]): Promise<number> {
  let keys = 0;
  for await (const _ of kv.list({ prefix })) keys++;
  return keys;
}

async function expectDropped(): Promise<void> {
  expect(await count(["tasks_by_tag"])).toBe(0);
  expect(await count(["tasks_by_name"])).toBe(0);
  expect(await count(["__keywright", "count", "tasks_by_tag"])).toBe(0);
  expect(await count(["__keywright", "duplicates"])).toBe(0);
  const { indexes, counters } = await catalog();
  // The definitions stay, so that nothing else takes their places by mistake.
  expect(indexes).toMatchObject({
    byList: { state: "readable" },
    byTag: { state: "absent", prefix: "tasks_by_tag" },
    byName: { state: "absent", prefix: "tasks_by_name" },
  });
  expect(counters).toEqual({ "": "readable" });
  await expectIndexesToMatch(kv, Small);
}

const drop = async (on: Kv = kv, options = {}) => {
  const db = await openSmall(on);
  return await withRun(on, (run) => dropDerived(contextOf(db, "tasks"), run), options);
};

it("removes the entries, the counters and the rest of indexes that are dropping, and keeps others", async () => {
  await fillAndDrop(700);
  const progress: MigrationProgress[] = [];
  expect(await drop(kv, { onProgress: (report: MigrationProgress) => progress.push(report) })).toBe(
    true,
  );
  await expectDropped();
  expect(progress.map(({ phase, done }) => [phase, done])).toEqual([
    ["dropping", 0],
    ["dropping", 500],
    ["dropping", 1000],
    ["dropping", 1400],
    ["dropping", 1406],
    ["dropping", 1906],
    ["dropping", 2106],
    ["dropping", 2107],
  ]);
  expect(progress[0]).toMatchObject({ model: "tasks", indexes: ["byTag", "byName"] });
});

it("writes nothing where no index is dropping", async () => {
  await (await openTask()).tasks.create({ data: { id: "a", list: "x", tags: [] } });
  const { versionstamp } = await kv.get(catalogKey);
  expect(await drop()).toBe(true);
  expect((await kv.get(catalogKey)).versionstamp).toBe(versionstamp);
});

it("stops at the signal, and continues with what is left", async () => {
  await fillAndDrop(700);
  const stop = new AbortController();
  const onProgress = ({ done }: MigrationProgress) => {
    if (done === 500) stop.abort();
  };
  expect(await drop(kv, { onProgress, signal: stop.signal })).toBe(false);
  expect(await count(["tasks_by_tag"])).toBe(900);
  expect((await catalog()).indexes.byTag?.state).toBe("dropping");
  expect(await drop()).toBe(true);
  await expectDropped();
});

it.each(["before", "after"] as const)(
  "continues after a crash %s any of its commits",
  async (moment) => {
    for (let at = 1; ; at++) {
      const own = await openKv();
      const outer = kv;
      kv = own;
      try {
        await fillAndDrop(6);
        const end = await drop(crashingKv(kv, at, moment)).catch((error: unknown) => error);
        const db = await openSmall();
        await db.tasks.create({ data: { id: "between", list: "l1", tags: ["all"] } });
        expect(await drop()).toBe(true);
        await expectDropped();
        if (!(end instanceof Crash)) {
          expect(at).toBeGreaterThan(5);
          return;
        }
      } finally {
        kv = outer;
        await own.close();
      }
    }
  },
);

it("keeps within the limits of a Deno KV", async () => {
  await fillAndDrop(20);
  expect(await drop(denoKv(kv))).toBe(true);
  await expectDropped();
});

it("leaves the entries where another index has its own in the same place", async () => {
  await fillAndDrop(5);
  const entry = await catalog();
  const byLabel = { ...entry.indexes.byTag, state: "readable" };
  await kv.set(catalogKey, { ...entry, indexes: { ...entry.indexes, byLabel } });
  expect(await drop()).toBe(true);
  expect(await count(["tasks_by_tag"])).toBe(10);
  expect(await count(["__keywright", "count", "tasks_by_tag"])).toBeGreaterThan(0);
  expect(await count(["__keywright", "duplicates"])).toBe(0);
  expect((await catalog()).indexes.byTag?.state).toBe("absent");
});

it.each([
  ["readable", undefined, 0],
  ["unique-pending", undefined, 1],
  ["readable", "write-only", 1],
] as const)(
  "removes what a %s index left in an earlier place, and duplicates only if it has none (next: %s)",
  async (state, next, duplicates) => {
    await fillAndDrop(5);
    await setStates({ byTag: "readable", byName: state });
    const entry = await catalog();
    const byName = {
      ...entry.indexes.byName,
      leftPlaces: ["tasks_by_title", "tasks_by_heading"],
      ...(next && { next: { ...entry.indexes.byName, prefix: "tasks_by_next", state: next } }),
    };
    await kv.set(catalogKey, { ...entry, indexes: { ...entry.indexes, byName } });
    for (const place of byName.leftPlaces) await kv.set([place, "r0"], "r0");
    expect(await drop()).toBe(true);
    expect(await count(["tasks_by_title"])).toBe(0);
    expect(await count(["tasks_by_heading"])).toBe(0);
    expect(await count(["tasks_by_name"])).toBe(5);
    expect(await count(["__keywright", "duplicates"])).toBe(duplicates);
    expect((await catalog()).indexes.byName).not.toHaveProperty("leftPlaces");
  },
);

it("drops counters alone", async () => {
  await fillAndDrop(5);
  await setStates({ byTag: "readable", byName: "readable" });
  const entry = await catalog();
  await kv.set(catalogKey, { ...entry, counters: { "": "dropping", byTag: "dropping" } });
  expect(await drop()).toBe(true);
  expect(await count(["__keywright", "count"])).toBe(0);
  expect((await kv.get(["__keywright", "count", "tasks"])).value).toBeNull();
  expect(await count(["tasks_by_tag"])).toBe(10);
  expect("counters" in (await catalog())).toBe(false);
});

it("drops the counter of an index, and keeps that of the rows", async () => {
  await fillAndDrop(5);
  await setStates({ byTag: "readable", byName: "readable" });
  const entry = await catalog();
  await kv.set(catalogKey, { ...entry, counters: { "": "readable", byTag: "dropping" } });
  expect(await drop()).toBe(true);
  expect(await count(["__keywright", "count", "tasks_by_tag"])).toBe(0);
  expect((await kv.get(["__keywright", "count", "tasks"])).value).not.toBeNull();
  expect((await catalog()).counters).toEqual({ "": "readable" });
});

it("finds nothing behind that a program wrote which still has the index", async () => {
  const old = await openTask();
  await fillAndDrop(5);
  await setStates({ byTag: "readable", byName: "readable" });
  await old.tasks.create({ data: { id: "before", list: "l0", tags: ["all"] } });
  await setStates({ byTag: "dropping", byName: "dropping" });
  let writes = 0;
  const racing = interferingKv(kv, async () => {
    // It has planned nothing since: its first attempt is by the catalog as it was.
    if (++writes === 2)
      await old.tasks.create({ data: { id: "after", list: "l0", tags: ["all"] } });
  });
  expect(await drop(racing)).toBe(true);
  expect(writes).toBeGreaterThan(2);
  await expectDropped();
  expect((await rejection(old.tasks.findMany({ where: { tags: { has: "all" } } }))).code).toBe(
    "KW_INDEX_NOT_READY",
  );
});
