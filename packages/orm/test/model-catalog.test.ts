// When a catalog that was read earlier is read again, by a clock that only the test moves.
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";
import { compileModel } from "../src/codegen.js";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { ModelCatalog } from "../src/state/catalog/model-catalog.js";
import { rejection } from "./user-model.js";

const schema = z.object({ id: z.string(), team: z.string() });
const Bare = defineModel({ name: "players", schema, primaryKey: "id" });
const Player = defineModel({ ...Bare, indexes: { byTeam: { key: "team" } } });
const Rekeyed = defineModel({ ...Player, primaryKey: "team" });

let kv: EmbeddedKv;
let now: number;
beforeEach(async () => {
  kv = await openKv();
  now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await kv.close();
});

async function open() {
  const model = compileModel(Player);
  const catalog = await ModelCatalog.open(kv, model);
  const [index] = model.indexes;
  if (index === undefined) throw new Error("the model has no index");
  return { catalog, index };
}

/** Another program migrates the database to its model. */
async function migrateTo(model: typeof Bare | typeof Player | typeof Rekeyed): Promise<void> {
  const other = await createDatabase({ kv, models: { players: model } });
  expect((await migrate(other, { accept: true })).status).toBe("done");
}

/** The clock of real time, because a migration waits for readers. */
async function withRealTime(run: () => Promise<void>): Promise<void> {
  const clock = vi.spyOn(performance, "now");
  clock.mockRestore();
  await run();
  now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now);
}

it("refresh reads the entry again once it is as old as it may be, and not before", async () => {
  const { catalog, index } = await open();
  const stored = await kv.get<object>(catalog.snapshot.check.key);
  await kv.set(stored.key, {
    ...stored.value,
    indexes: { byTeam: { ...catalog.snapshot.entry.indexes.byTeam, state: "dropping" } },
  });
  now += catalog.maxAgeMs - 0.5;
  await catalog.refresh();
  expect(catalog.snapshot.stateOf(index)).toBe("readable");
  now += 0.5;
  expect(catalog.isFresh).toBe(false);
  await catalog.refresh();
  expect(catalog.snapshot.stateOf(index)).toBe("dropping");
  expect(catalog.isFresh).toBe(true);
});

it("a refresh that finds the entry unchanged makes the catalog current", async () => {
  const { catalog } = await open();
  const { snapshot } = catalog;
  now += catalog.maxAgeMs;
  await catalog.refresh();
  expect(catalog.isFresh).toBe(true);
  expect(catalog.snapshot).toBe(snapshot);
});

it("assertReadable does not rely on a stale catalog, which takes a dropped index for readable", async () => {
  const { catalog, index } = await open();
  await catalog.assertReadable(index);
  await withRealTime(() => migrateTo(Bare));
  now += catalog.maxAgeMs;
  expect(catalog.snapshot.canRead(index)).toBe(true);
  expect((await rejection(catalog.assertReadable(index))).code).toBe("KW_INDEX_NOT_READY");
});

it("assertReadable reads the catalog before it refuses an index that has become readable", async () => {
  const bare = await createDatabase({ kv, models: { players: Bare } });
  await bare.players.create({ data: { id: "1", team: "red" } });
  const { catalog, index } = await open();
  expect(catalog.isReadable(index)).toBe(false);
  await withRealTime(() => migrateTo(Player));
  await catalog.assertReadable(index);
  expect(catalog.isReadable(index)).toBe(true);
});

it("assertSameKey of a stale catalog notices a primary key that was changed", async () => {
  const { catalog } = await open();
  await catalog.assertSameKey();
  await withRealTime(() => migrateTo(Rekeyed));
  now += catalog.maxAgeMs;
  expect(catalog.isKeyKnown).toBe(false);
  expect((await rejection(catalog.assertSameKey())).code).toBe("KW_PRIMARY_KEY_DIFFERS");
});

it("a commit that checked an entry makes it current, unless the entry was replaced", async () => {
  const { catalog } = await open();
  const { snapshot } = catalog;
  const [before, commit, after] = ["1", "2", "3"].map((versionstamp) => ({ versionstamp }));
  now += catalog.maxAgeMs;
  catalog.confirm(snapshot, now, commit!.versionstamp);
  expect(catalog.isFresh).toBe(true);
  expect(catalog.isCurrentFor(snapshot, [before!, commit!])).toBe(true);
  expect(catalog.isCurrentFor(snapshot, [before!, after!])).toBe(false);
  // An earlier commit that ends later takes nothing back.
  catalog.confirm(snapshot, now - catalog.maxAgeMs, before!.versionstamp);
  expect(catalog.isFresh).toBe(true);
  expect(catalog.isCurrentFor(snapshot, [commit!])).toBe(true);
  await kv.set(snapshot.check.key, (await kv.get(snapshot.check.key)).value);
  await catalog.reload();
  now += catalog.maxAgeMs;
  catalog.confirm(snapshot, now, after!.versionstamp);
  expect(catalog.isFresh).toBe(false);
  expect(catalog.isCurrentFor(catalog.snapshot, [after!])).toBe(false);
});
