import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { intervalSize } from "../src/derived/ranks/rank-keys.js";
import { createDatabase, defineModel, type Row } from "../src/index.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

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
type Player = z.output<(typeof Player)["schema"]>;

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (on: Kv = kv) => createDatabase({ kv: on, models: { players: Player } });
type Database = Awaited<ReturnType<typeof open>>;

const leagues = ["a", "b", "c"];
const ids = Array.from({ length: 60 }, (_, i) => `p${i}`);
const playerOf = fc.record({
  id: fc.constantFrom(...ids),
  league: fc.constantFrom(...leagues),
  score: fc.integer({ min: -20, max: 20 }),
  wins: fc.option(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { nil: undefined }),
});

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const inOrder = (rows: Iterable<Player>) =>
  [...rows].sort((a, b) => a.score - b.score || compare(a.id, b.id));

/** Compares everything that ranks answer with a sorted array. */
async function expectRanks(db: Database, rows: Iterable<Player>) {
  const sorted = inOrder(rows);
  for (const [from, to] of [
    [-5, 5],
    [-20, 21],
    [3, 4],
  ] as const) {
    const where = { score: { gte: from, lt: to } };
    const inside = sorted.filter(({ score }) => score >= from && score < to);
    expect(await db.players.count({ where })).toBe(inside.length);
    const wins = inside.flatMap((row) => row.wins ?? []);
    expect(await db.players.aggregate({ where, count: true, sum: { wins: true } })).toEqual({
      count: inside.length,
      sum: { wins: wins.length === 0 ? null : wins.reduce((a, b) => a + b, 0) },
    });
  }
  for (const [i, { id, league }] of sorted.entries()) {
    if (i % 7 !== 0) continue;
    const where = { id };
    expect(await db.players.rank({ index: "byScore", where })).toBe(i);
    const after = sorted.length - 1 - i;
    expect(await db.players.rank({ index: "byScore", where, order: "desc" })).toBe(after);
    const peers = sorted.filter((row) => row.league === league).map((row) => row.id);
    expect(await db.players.rank({ index: "byLeague", where, by: ["league"] })).toBe(
      peers.indexOf(id),
    );
    const page = { where: { league }, take: 2, skip: peers.indexOf(id) };
    const asc = await db.players.findMany({ ...page, orderBy: { score: "asc" } });
    expect(asc.items.map((row) => row.id)).toEqual(peers.slice(page.skip, page.skip + 2));
    const desc = await db.players.findMany({ ...page, orderBy: { score: "desc" } });
    const reversed = peers.toReversed();
    expect(desc.items.map((row) => row.id)).toEqual(reversed.slice(page.skip, page.skip + 2));
  }
}

const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("put" as const), row: playerOf }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete" as const), row: playerOf }) },
);
type Change = { readonly type: "put" | "delete"; readonly row: Player };

const apply = async (db: Pick<Database, "players">, { type, row }: Change) => {
  const where = { id: row.id };
  if (type === "delete") await db.players.delete({ where }).catch(() => undefined);
  else {
    const { id: _, ...update } = row;
    await db.players.upsert({ where, create: row, update });
  }
};

describe("ranks", () => {
  it("agree with a sorted array", async () => {
    const property = fc.asyncProperty(
      fc.array(playerOf, { maxLength: 60 }),
      fc.array(change, { minLength: 20, maxLength: 80 }),
      async (created, changes) => {
        await using on = await openKv();
        const db = await open(on);
        const rows = new Map<string, Row<typeof Player>>(created.map((row) => [row.id, row]));
        await db.players.createMany({ data: [...rows.values()] });
        for (const one of changes) {
          if (one.type === "delete") rows.delete(one.row.id);
          // An update leaves a field without a value as it is.
          else rows.set(one.row.id, { ...rows.get(one.row.id), ...withoutAbsent(one.row) });
          await apply(db, one);
        }
        await expectIndexesToMatch(on, Player as never);
        await expectRanks(db, rows.values());
      },
    );
    await fc.assert(property, { numRuns: 10 });
  });

  it("are exact after any clients have written at once", async () => {
    const property = fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 10, maxLength: 60 }), { minLength: 2, maxLength: 8 }),
      async (clients) => {
        await using on = await openKv();
        const databases = await Promise.all(clients.map(() => open(on)));
        await Promise.all(
          clients.map(async (changes, i) => {
            for (const [position, one] of changes.entries()) {
              if (position % 5 !== 0) await apply(databases[i]!, one);
              else await databases[i]!.transaction((tx) => apply(tx, one));
            }
          }),
        );
        await expectIndexesToMatch(on, Player as never);
        const rows: Player[] = [];
        for await (const row of databases[0]!.players.scan()) rows.push(row);
        await expectRanks(databases[0]!, rows);
      },
    );
    await fc.assert(property, { numRuns: 8 });
  });
});

function withoutAbsent(row: Player): Player {
  return Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== undefined),
  ) as Player;
}
