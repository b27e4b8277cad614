import { type EmbeddedKv, type KvKey, KvU64, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { intervalSize } from "../src/derived/ranks/rank-keys.js";
import { createDatabase, type Database, defineModel } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";

// Small intervals, so that few rows make several levels.
const { parts } = intervalSize;
beforeAll(() => {
  intervalSize.parts = 3;
});
afterAll(() => {
  intervalSize.parts = parts;
});

const Player = defineModel({
  name: "players",
  schema: z.object({
    id: z.string(),
    league: z.string(),
    score: z.int(),
    wins: z.int().optional(),
  }),
  primaryKey: "id",
  indexes: {
    byScore: { key: "score", ranked: true, sum: ["wins"] },
    byLeague: { key: ["league", "score"], ranked: true },
  },
});
const models = { players: Player };
const playerOf = (i: number) => ({
  id: `p${i}`,
  league: "abc"[i % 3]!,
  score: (i * 37) % 101,
  ...(i % 2 === 0 && { wins: i - 50 }),
});

let kv: EmbeddedKv;
let db: Database<typeof models>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models });
  for (let i = 0; i < 150; i++) await db.players.create({ data: playerOf(i) });
  for (let i = 0; i < 150; i += 7) await db.players.delete({ where: { id: `p${i}` } });
});
afterEach(() => kv.close());

const counters = async (options: Parameters<typeof verifyIndexes>[1] = {}) => {
  const { status, models: verified } = await verifyIndexes(db, options);
  return { status, ...verified[0]!.counters };
};

/** The keys of the numbers of intervals of a level. */
async function numbersOf(index: string, level: number): Promise<KvKey[]> {
  const keys: KvKey[] = [];
  for await (const { key, value } of kv.list({ prefix: ["__keywright", "count"] })) {
    const isOf = String(key[2]).startsWith(`players_by_${index} ranked(`) && key[3] === level;
    if (isOf && value instanceof KvU64) keys.push(key);
  }
  return keys;
}

describe("verifyIndexes", () => {
  it("finds that intervals of ranked indexes have the numbers of their entries", async () => {
    expect((await numbersOf("score", 3)).length).toBeGreaterThan(1);
    expect(await counters()).toMatchObject({ status: "clean", count: 0, unchecked: 0 });
  });

  it("finds a wrong number on each level, and builds the ranks again", async () => {
    for (const [index, level, at] of [
      ["score", 1, 0],
      ["score", 1, 30],
      ["score", 2, 4],
      ["score", 3, -1],
      ["league", 1, 10],
    ] as const) {
      const key = (await numbersOf(index, level)).at(at)!;
      await kv.atomic().sum(key, 2n).commit();
      const found = await counters();
      expect([index, level, found.status, found.count]).toEqual([index, level, "damaged", 1]);
      expect(found.first).toMatchObject([{ index: expect.stringMatching(/^by/), isRanked: true }]);
      expect(await counters({ repair: true })).toMatchObject({ status: "repaired", repaired: 1 });
      expect((await counters()).status).toBe("clean");
      const sorted = (await db.players.findMany({ orderBy: { score: "asc" }, take: 200 })).items;
      const { id } = sorted[77]!;
      expect(await db.players.rank({ index: "byScore", where: { id } })).toBe(77);
    }
  });

  it("finds nothing while others write", async () => {
    let isDone = false;
    const verification = counters().finally(() => {
      isDone = true;
    });
    for (let i = 0; !isDone && i < 400; i++) {
      await db.players.upsert({
        where: { id: `p${i % 200}` },
        create: playerOf(i % 200),
        update: { score: i },
      });
      if (i % 5 === 0) await db.players.deleteMany({ where: { score: i % 101 } });
    }
    expect(await verification).toMatchObject({ status: "clean", count: 0 });
    expect(await counters()).toMatchObject({ status: "clean", count: 0, unchecked: 0 });
  });
});
