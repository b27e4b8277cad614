import { setImmediate } from "node:timers/promises";
import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { intervalSize } from "../src/derived/ranks/rank-keys.js";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { planMigration, verifyIndexes } from "../src/migrate.js";
import { Crash, crashingKv, denoKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

// Small intervals, so that few rows make several levels.
const { parts } = intervalSize;
beforeAll(() => {
  intervalSize.parts = 3;
});
afterAll(() => {
  intervalSize.parts = parts;
});

const schema = z.object({ id: z.string(), score: z.int(), wins: z.int() });
const Plain = defineModel({
  name: "players",
  schema,
  primaryKey: "id",
  indexes: { byScore: { key: "score" } },
});
const Player = defineModel({
  name: "players",
  schema,
  primaryKey: "id",
  indexes: { byScore: { key: "score", ranked: true } },
});
const Summed = defineModel({
  name: "players",
  schema,
  primaryKey: "id",
  indexes: { byScore: { key: "score", ranked: true, sum: ["wins"] } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const openPlain = (on: Kv = kv) => createDatabase({ kv: on, models: { players: Plain } });
const open = (on: Kv = kv) => createDatabase({ kv: on, models: { players: Player } });
const openSummed = (on: Kv = kv) => createDatabase({ kv: on, models: { players: Summed } });

const rowOf = (i: number) => ({
  id: `p${String(i).padStart(4, "0")}`,
  score: (i * 7) % 50,
  wins: i,
});

const fill = async (rows: number) => {
  const db = await openPlain();
  await db.players.createMany({ data: Array.from({ length: rows }, (_, i) => rowOf(i)) });
};

const moment = fc.constantFrom("before" as const, "after" as const);

const stored = async (prefix: string) => {
  let keys = 0;
  for await (const { key } of kv.list({ prefix: ["__keywright", "count"] }))
    if (String(key[2]).startsWith(prefix)) keys++;
  return keys;
};

describe("ranks that are new to a model with rows", () => {
  it("are not ready before they are built", async () => {
    await fill(10);
    const db = await open();
    const error = await rejection(db.players.rank({ index: "byScore", where: { id: "p0001" } }));
    expect(error).toMatchObject({ code: "KW_INDEX_NOT_READY", state: "absent" });
    expect(error.message).toBe(
      "players.rank: the ranks of the index byScore cannot be read: it is not built yet; run migrate",
    );
    const plan = await planMigration(db);
    expect(plan.steps.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([
      "players.count(byScore): build-counter: The counter of the keys of byScore is built from the rows.",
      "players.byScore ranked(): build-counter: The counter of the ranks of byScore, ranked(), is built from the rows.",
    ]);
  });

  it.each([
    ["the embedded database", (on: Kv) => on],
    ["a database with Deno KV's limits", denoKv],
  ])("are built by a migration, used and dropped on %s", async (_, wrap) => {
    await fill(80);
    const db = await open(wrap(kv));
    expect((await migrate(db)).status).toBe("done");
    await expectIndexesToMatch(kv, Player as never);
    expect(await stored("players_by_score ranked")).toBeGreaterThan(60);
    await db.players.createMany({ data: Array.from({ length: 20 }, (_, i) => rowOf(100 + i)) });
    await db.players.update({ where: { id: "p0001" }, data: { score: 40 } });
    await db.players.delete({ where: { id: "p0002" } });
    await expectIndexesToMatch(kv, Player as never);
    const { items } = await db.players.findMany({
      orderBy: { score: "asc" },
      index: "byScore",
      skip: 30,
      take: 1,
    });
    expect(await db.players.rank({ index: "byScore", where: { id: items[0]!.id } })).toBe(30);
    const dropped = await migrate(await openPlain(wrap(kv)), { accept: true });
    expect(dropped.status).toBe("done");
    expect(await stored("players_by_score")).toBe(0);
  });

  it("are built again if other sums are declared", async () => {
    await fill(40);
    await migrate(await open());
    const db = await openSummed();
    expect((await migrate(db, { accept: true })).status).toBe("done");
    await expectIndexesToMatch(kv, Summed as never);
    expect(await stored("players_by_score ranked()")).toBe(0);
    const where = { score: { gte: 10, lt: 20 } };
    expect(await db.players.aggregate({ where, sum: { wins: true } })).toEqual({
      sum: {
        wins: Array.from({ length: 40 }, (_, i) => rowOf(i))
          .filter(({ score }) => score >= 10 && score < 20)
          .reduce((sum, { wins }) => sum + wins, 0),
      },
    });
  });

  it("are built while others write", async () => {
    await fill(120);
    const db = await openSummed();
    let isBuilt = false;
    const write = async (client: number) => {
      for (let i = 0; !isBuilt; i++) {
        if (i % 20 === 0) await setImmediate();
        const row = rowOf((i * 37 + client * 211) % 150);
        await db.players.upsert({
          where: { id: row.id },
          create: row,
          update: { score: i % 60, wins: i },
        });
        if (i % 3 === 0) await db.players.delete({ where: { id: row.id } }).catch(() => undefined);
      }
    };
    const build = migrate(await openSummed()).finally(() => {
      isBuilt = true;
    });
    const [{ status }] = await Promise.all([build, write(1), write(2)]);
    expect(status).toBe("done");
    await expectIndexesToMatch(kv, Summed as never);
  });

  it("are exact when the build dies at any commit, and is repeated", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const property = fc.asyncProperty(
      fc.integer({ min: 0, max: 40 }),
      moment,
      async (commits, when) => {
        await using on = await openKv();
        const before = await openPlain(on);
        await before.players.createMany({ data: Array.from({ length: 60 }, (_, i) => rowOf(i)) });
        const died = await migrate(await openSummed(crashingKv(on, commits, when))).catch(
          (error: unknown) => error,
        );
        if (died instanceof Error) expect(died).toBeInstanceOf(Crash);
        vi.setSystemTime(Date.now() + 3_600_000);
        const db = await openSummed(on);
        await db.players.update({ where: { id: "p0003" }, data: { score: 3 } });
        expect((await migrate(db)).status).toBe("done");
        await expectIndexesToMatch(on, Summed as never);
      },
    );
    await fc.assert(property, { numRuns: 8 });
  });

  it("are exact when a writer dies while it splits or merges intervals", async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 30, max: 90 }),
      moment,
      async (commits, when) => {
        await using on = await openKv();
        await openSummed(on);
        const db = await openSummed(crashingKv(on, commits, when));
        const run = async () => {
          for (let i = 0; i < 40; i++) await db.players.create({ data: rowOf(i) });
          for (let i = 0; i < 35; i++) await db.players.delete({ where: { id: rowOf(i).id } });
        };
        await run().catch(() => undefined);
        await expectIndexesToMatch(on, Summed as never);
        const next = await openSummed(on);
        for (let i = 200; i < 230; i++) await next.players.create({ data: rowOf(i) });
        await expectIndexesToMatch(on, Summed as never);
      },
    );
    await fc.assert(property, { numRuns: 8 });
  });

  it("are built again by a repair that counts again", async () => {
    await fill(40);
    const db = await open();
    await migrate(db);
    for await (const { key } of kv.list({ prefix: ["__keywright", "count"] }))
      if (String(key[2]).includes("ranked") && key.at(-1) === 0) await kv.delete(key);
    await verifyIndexes(db, { repair: true, recount: true });
    await expectIndexesToMatch(kv, Player as never);
  });

  it("refuse rows that expire", async () => {
    const db = await open();
    const error = await rejection(db.players.create({ data: rowOf(1), expireIn: 1000 }));
    expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "expireIn" });
  });

  it("are not built if a row expires", async () => {
    const before = await openPlain();
    await before.players.create({ data: rowOf(1), expireIn: 1_000_000 });
    const error = await rejection(migrate(await open()));
    expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "expireIn" });
  });
});
