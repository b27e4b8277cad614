import { type EmbeddedKv, type Kv, type KvU64, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { Crash, crashingKv, interferingKv } from "./faulty-kv.js";

const Plain = defineModel({
  name: "docs",
  schema: z.object({ id: z.string(), kind: z.string(), tags: z.array(z.string()) }),
  primaryKey: "id",
});
const Tagged = defineModel({
  ...Plain,
  indexes: { byTag: { key: "tags", each: true }, byKind: { key: "kind" } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv(undefined, { compat: "deno" });
});
afterEach(() => kv.close());

const tagsOf = (count: number) => Array.from({ length: count }, (_, i) => `tag ${i}`);

/** Rows of which one has more tags than one commit takes entries. */
async function fill(count = 1500): Promise<void> {
  const db = await createDatabase({ kv, models: { docs: Plain } });
  for (const id of ["a", "c"]) await db.docs.create({ data: { id, kind: "k", tags: ["tag 1"] } });
  await db.docs.create({ data: { id: "b", kind: "k", tags: tagsOf(count) } });
}

async function keysUnder(prefix: string): Promise<unknown[]> {
  const keys: unknown[] = [];
  for await (const { key } of kv.list({ prefix: [prefix] })) keys.push(key.slice(1));
  return keys;
}

const open = (on: Kv = kv) => createDatabase({ kv: on, models: { docs: Tagged } });

/** All entries of all rows are there, and no other. */
async function expectIndexed(tags: number): Promise<void> {
  const expected = [...tagsOf(tags).map((tag) => [tag, "b"]), ["tag 1", "a"], ["tag 1", "c"]];
  expect((await keysUnder("docs_by_tag")).sort()).toEqual(expected.sort());
  expect(await keysUnder("docs_by_kind")).toEqual(["a", "b", "c"].map((id) => ["k", id]));
}

it("a row with more entries than one commit takes is indexed by several", async () => {
  await fill();
  const db = await open();
  // Without verifying, which would put right what lacks.
  const result = await migrate(db, { verify: false });
  expect(result).toMatchObject({ status: "done", unindexed: [] });
  await expectIndexed(1500);
  expect((await verifyIndexes(db)).status).toBe("clean");
});

it("it is indexed whole wherever the build dies", async () => {
  await fill();
  for (let at = 1; ; at++) {
    const db = await open(crashingKv(kv, at, "after"));
    const end = await migrate(db, { verify: false }).catch((error: unknown) => error);
    if (!(end instanceof Crash)) break;
  }
  await expectIndexed(1500);
});

it("nothing is left of what a writer removes from it at the same time", async () => {
  await fill();
  let has = false;
  const interfering = interferingKv(kv, async () => {
    if (has || (await keysUnder("docs_by_tag")).length < 100) return;
    has = true;
    const db = await open();
    await db.docs.update({ where: { id: "b" }, data: { tags: tagsOf(1400) } });
  });
  await migrate(await open(interfering), { verify: false });
  expect(has).toBe(true);
  await expectIndexed(1400);
});

it("a row with more unique keys than one commit can check is indexed too", async () => {
  await fill(150);
  const Unique = defineModel({
    ...Plain,
    indexes: { byTag: { key: "tags", each: true, unique: true } },
  });
  const db = await createDatabase({ kv, models: { docs: Unique } });
  const result = await migrate(db, { verify: false });
  // The three rows share a tag, which the first of them has.
  expect(result).toMatchObject({ status: "duplicates", unindexed: [] });
  expect((await keysUnder("docs_by_tag")).sort()).toEqual(
    tagsOf(150)
      .map((tag) => [tag])
      .sort(),
  );
});

it("the count in an index that one commit cannot count a row in is left absent, and the others are built", async () => {
  await fill();
  const Counted = defineModel({
    ...Plain,
    count: true,
    indexes: {
      byTag: { key: "tags", each: true, count: true },
      byKind: { key: "kind", count: true },
    },
  });
  const models = { docs: Counted };
  for (let run = 0; run < 2; run++) {
    expect((await migrate(await createDatabase({ kv, models }))).status).toBe("done");
    const { value } = await kv.get<{ counters: object }>(["__keywright", "catalog", "docs"]);
    expect(value?.counters).toEqual({ "": "readable", byTag: "absent", byKind: "readable" });
  }
  const db = await createDatabase({ kv, models });
  expect(await db.docs.count()).toBe(3);
  expect(await db.docs.count({ where: { kind: "k" } })).toBe(3);
  expect(await db.docs.count({ where: { tags: { has: "tag 1" } } })).toBe(3);
  const { value } = await kv.get<KvU64>(["__keywright", "count", "docs"]);
  expect(value?.value).toBe(3n);
});
