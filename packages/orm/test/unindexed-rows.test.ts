import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineModel,
  desc,
  type MigrationProgress,
  migrate,
  migrationStatus,
} from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { crashAtEachCommit, crashingKv } from "./faulty-kv.js";

const schema = z.object({ id: z.string(), url: z.string() });
const before = defineModel({ name: "links", schema, primaryKey: "id" });
const Link = defineModel({
  name: "links",
  schema,
  primaryKey: "id",
  indexes: { byHost: { key: "url", normalize: (url) => new URL(url).host } },
});
const byCopy = defineModel({
  ...Link,
  indexes: { byHostCopy: { ...Link.indexes.byHost, store: "copy" as const } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
  await fill(kv);
});
afterEach(() => kv.close());

async function fill(on: Kv): Promise<void> {
  const old = await createDatabase({ kv: on, models: { links: before } });
  await old.links.create({ data: { id: "1", url: "https://deno.land/x" } });
  for (let i = 2; i < 4; i++) await old.links.create({ data: { id: `${i}`, url: "no address" } });
}

const refused = (model: string, id: string, index: string) => ({
  model,
  id,
  indexes: [index],
  reason: expect.stringMatching(/^url: Invalid URL/),
});

it.each([
  { stored: "pointers", model: Link, index: "byHost" },
  { stored: "copies", model: byCopy, index: "byHostCopy" },
])(
  "an index of $stored whose function throws lacks those rows, and that is said",
  async ({ model, index }) => {
    const db = await createDatabase({ kv, models: { links: model } });
    const rows = [refused("links", "2", index), refused("links", "3", index)];
    expect(await migrate(db)).toMatchObject({
      status: "unindexed-rows",
      indexes: [{ index, state: "readable" }],
      unindexed: rows,
      unindexedCount: 2,
    });
    expect(await migrate(db)).toMatchObject({ status: "done", plan: { isEmpty: true } });
    for (const repair of [false, true]) {
      const { status, models } = await verifyIndexes(db, { repair });
      expect(status).toBe("damaged");
      expect(models).toMatchObject([{ findings: [], unindexed: rows, unindexedCount: 2 }]);
    }
    await db.links.update({ where: { id: "2" }, data: { url: "https://jsr.io" } });
    await db.links.delete({ where: { id: "3" } });
    expect(await verifyIndexes(db)).toMatchObject({
      status: "clean",
      models: [{ unindexed: [], unindexedCount: 0 }],
    });
  },
);

it("rows that an index cannot hold are counted on by a verification that was stopped", async () => {
  const old = await createDatabase({ kv, models: { links: before } });
  for (let i = 0; i < 2000; i++) await kv.set(["links", `a${i}`], { id: `a${i}`, url: "none" });
  expect(await old.links.findUnique({ where: { id: "a0" } })).not.toBeNull();
  const db = await createDatabase({ kv, models: { links: Link } });
  await migrate(db);
  const stop = new AbortController();
  const stopped = await verifyIndexes(db, {
    signal: stop.signal,
    onProgress: ({ done }) => {
      if (done >= 500) stop.abort();
    },
  });
  expect(stopped.status).toBe("stopped");
  const { models } = await verifyIndexes(db);
  expect(models[0]).toMatchObject({ rows: 2003, unindexedCount: 2002 });
});

it("a row counts once for each reason, with all indexes that it keeps it out of", async () => {
  const base = { name: "numbers", schema: z.object({ id: z.string(), n: z.number() }) } as const;
  await createDatabase({ kv, models: { numbers: defineModel({ ...base, primaryKey: "id" }) } });
  await kv.set(["numbers", "bad"], { id: "bad", n: { x: 1 } });
  const indexes = {
    byN: { key: "n" },
    byUniqueN: { key: "n", unique: true },
    byNCopy: { key: "n", store: "copy" },
    byDigits: {
      key: "n",
      normalize: (n: number) => {
        throw new Error(`none of ${n}`);
      },
    },
  } as const;
  const model = defineModel({ ...base, primaryKey: "id", indexes });
  const db = await createDatabase({ kv, models: { numbers: model } });
  const unindexed = [
    { id: "bad", indexes: ["byN", "byUniqueN", "byNCopy"], reason: expect.stringMatching(/^n is/) },
    { id: "bad", indexes: ["byDigits"], reason: expect.stringMatching(/^n: none of/) },
  ];
  expect(await migrate(db)).toMatchObject({ unindexed, unindexedCount: 2 });
  expect((await verifyIndexes(db)).models).toMatchObject([{ unindexed, unindexedCount: 2 }]);
});

it("a reason of any length is cut, so that its row is named", async () => {
  const reason = "x".repeat(20_000);
  const normalize = (): never => {
    throw new Error(reason);
  };
  const Long = defineModel({ ...before, indexes: { byHost: { key: "url", normalize } } });
  const db = await createDatabase({ kv, models: { links: Long } });
  const { unindexed, unindexedCount } = await migrate(db);
  expect(unindexed.map(({ id }) => id)).toEqual(["1", "2", "3"]);
  expect(unindexed[0]?.reason).toMatch(/^url: x{490,500}…$/);
  expect(unindexedCount).toBe(3);
});

describe("what a run has left out that was stopped behind its model", () => {
  const later = defineModel({ ...before, name: "pages", primaryKey: "id" });
  const Page = defineModel({ ...later, indexes: { byUrl: { key: "url" } } });
  const rows = [refused("links", "2", "byHost"), refused("links", "3", "byHost")];
  const unreported = async (on: Kv = kv) => {
    let count = 0;
    for await (const _ of on.list({ prefix: ["__keywright", "unreported"] })) count++;
    return count;
  };
  const openBoth = (on: Kv = kv) =>
    createDatabase({ kv: on, models: { links: Link, pages: Page } });

  async function fillPages(on: Kv, count: number): Promise<void> {
    const old = await createDatabase({ kv: on, models: { pages: later } });
    const data = Array.from({ length: count }, (_, i) => ({ id: `${i}`, url: `${i}` }));
    await old.pages.createMany({ data });
  }

  async function stopAtPages(): Promise<void> {
    await fillPages(kv, 1000);
    const stop = new AbortController();
    const onProgress = ({ model, phase, done }: MigrationProgress) => {
      if (model === "pages" && phase === "building" && done > 0) stop.abort();
    };
    const result = await migrate(await openBoth(), { signal: stop.signal, onProgress });
    expect(result).toMatchObject({ status: "stopped", unindexed: rows, unindexedCount: 2 });
  }

  it("is told of by the status, and once by the run that ends", async () => {
    await stopAtPages();
    const db = await openBoth();
    expect((await migrationStatus(db)).models[0]?.indexes).toMatchObject({
      byHost: { state: "readable", unindexed: { count: 2, rows } },
    });
    const resumed = await migrate(db);
    expect(resumed).toMatchObject({ status: "unindexed-rows", unindexed: rows, unindexedCount: 2 });
    expect(await unreported()).toBe(0);
    expect(await migrate(db)).toMatchObject({ status: "done", unindexed: [], unindexedCount: 0 });
    expect((await migrationStatus(db)).models[0]?.indexes.byHost?.unindexed).toBeNull();
  });

  it("is told of by the next run wherever one was killed", async () => {
    const commits = await crashAtEachCommit(async (at) => {
      await using own = await openKv();
      await fill(own);
      await fillPages(own, 3);
      const db = await openBoth(crashingKv(own, at, "before")).catch(() => undefined);
      const result = await (db && migrate(db).catch(() => undefined));
      if (result !== undefined) return false;
      const next = await migrate(await openBoth(own));
      expect(next).toMatchObject({ status: "unindexed-rows", unindexed: rows, unindexedCount: 2 });
      expect(await unreported(own)).toBe(0);
      return true;
    });
    expect(commits).toBeGreaterThan(10);
  });

  it("is told of no more where its index is built anew", async () => {
    await stopAtPages();
    const mended = defineModel({
      ...before,
      indexes: { byHost: { key: "url", normalize: (url: string) => url.toLowerCase() } },
    });
    const db = await createDatabase({ kv, models: { links: mended, pages: Page } });
    expect(await migrate(db)).toMatchObject({ status: "done", unindexedCount: 0 });
    expect(await unreported()).toBe(0);
  });
});

it("a descending index leaves out a string that no key can hold, in every call", async () => {
  const Note = defineModel({
    name: "notes",
    schema: z.object({ id: z.string(), title: z.string() }),
    primaryKey: "id",
    indexes: { byTitle: { key: [desc("title")] } },
  });
  const Plain = defineModel({ ...Note, indexes: {} });
  const lone = "\ud800";
  const plain = await createDatabase({ kv, models: { notes: Plain } });
  await plain.notes.create({ data: { id: "1", title: "a" } });
  await kv.set(["notes", "2"], { id: "2", title: lone });
  await kv.set(["notes", "3"], { id: "3", title: lone });
  const db = await createDatabase({ kv, models: { notes: Note } });
  expect((await migrate(db)).status).toBe("unindexed-rows");
  await verifyIndexes(db);
  await expect(db.notes.create({ data: { id: "4", title: lone } })).rejects.toMatchObject({
    code: "KW_INDEX_KEY_INVALID",
    index: "byTitle",
  });
  await db.notes.update({ where: { id: "2" }, data: { title: "b" } });
  await db.notes.delete({ where: { id: "3" } });
  expect((await migrate(db)).status).toBe("done");
  const { items } = await db.notes.findMany({ orderBy: { title: "desc" } });
  expect(items.map(({ id }) => id)).toEqual(["2", "1"]);
});
