import { setImmediate } from "node:timers/promises";
import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../../src/index.js";
import { denoKv } from "../faulty-kv.js";
import { Reports } from "../live-reports.js";
import { openDenoKv } from "../open-deno-kv.js";
import { rejection } from "../user-model.js";

const players = {
  name: "players",
  schema: z.object({ id: z.string(), name: z.string(), email: z.string().optional() }),
  primaryKey: "id",
  live: true,
} as const;
const Bare = defineModel(players);
const ByCopy = defineModel({ ...players, indexes: { byCopy: { key: "name", store: "copy" } } });
const ByPointer = defineModel({ ...players, indexes: { byCopy: { key: "name" } } });
const ByEmail = defineModel({ ...players, indexes: { byEmail: { key: "email", unique: true } } });

const ada = { where: { name: "Ada" } } as const;
const named = (id: string) => ({ data: { id, name: "Ada", email: "a@x" } });
const notReady = expect.stringMatching(/^KW_INDEX_(NOT_READY|CHANGED)$/);

const databases: [name: string, open: () => Promise<Kv>][] = [
  ["a database in memory", () => openKv()],
  ["the interface of Deno KV alone", async () => denoKv(await openKv())],
  ["@deno/kv", openDenoKv],
];

describe.each(databases)("a live query on %s", (_name, open) => {
  const withKv = async (body: (kv: Kv) => Promise<void>) => {
    const kv = await open();
    try {
      await body(kv);
    } finally {
      await kv.close();
    }
  };

  it.each([
    ["old", ByCopy],
    ["new", ByPointer],
  ])("of the %s program continues by the entries that replace those of its index", (_, Watched) =>
    withKv(async (kv) => {
      const old = await createDatabase({ kv, models: { players: ByCopy } });
      await old.players.create({ data: { id: "0", name: "Zed" } });
      const watching = await createDatabase({ kv, models: { players: Watched as typeof ByCopy } });
      const reports = new Reports(watching.players.watchMany(ada));
      expect(await reports.next()).toEqual([]);
      const db = await createDatabase({ kv, models: { players: ByPointer } });
      expect(await migrate(db)).toMatchObject({ status: "done" });
      const next = reports.next();
      await db.players.create(named("1"));
      expect(await next).toMatchObject([{ id: "1" }]);
      await db.players.create(named("2"));
      expect(await reports.next()).toMatchObject([{ id: "1" }, { id: "2" }]);
      await reports.cancel();
    }),
  );

  it("ends with the error where no index serves it any more, though its result has no rows", () =>
    withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { players: ByCopy } });
      await db.players.create({ data: { id: "0", name: "Zed" } });
      const reports = new Reports(db.players.watchMany(ada));
      expect(await reports.next()).toEqual([]);
      const now = await createDatabase({ kv, models: { players: Bare } });
      const next = rejection(reports.next());
      await migrate(now, { accept: true });
      expect(await next).toMatchObject({ code: notReady, operation: "watch" });
    }));

  it("ends with the error where its index was dropped before it was read", () =>
    withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { players: ByCopy } });
      await db.players.create({ data: { id: "0", name: "Zed" } });
      const now = await createDatabase({ kv, models: { players: Bare } });
      const catalog = async () =>
        (await kv.get(["__keywright", "catalog", "players"])).versionstamp;
      const before = await catalog();
      await db.players.findMany(ada);
      const migrating = migrate(now, { accept: true });
      // What the program has read of the catalog a moment ago does not hold any more.
      while ((await catalog()) === before) await setImmediate();
      const reports = new Reports(db.players.watchMany(ada));
      expect(await rejection(reports.next())).toMatchObject({ code: notReady });
      await migrating;
    }));

  it("of a unique value that no row has ends with the error where its index is dropped", () =>
    withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { players: ByEmail } });
      await db.players.create({ data: { id: "0", name: "Zed", email: "z@x" } });
      const reports = new Reports(db.players.watch({ where: { email: "a@x" } }));
      expect(await reports.next()).toBe(null);
      const now = await createDatabase({ kv, models: { players: Bare } });
      const next = rejection(reports.next());
      await migrate(now, { accept: true });
      expect(await next).toMatchObject({ code: notReady, operation: "watch" });
    }));
});
