import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { intervalSize } from "../src/derived/ranks/rank-keys.js";
import { rebalanceRanks } from "../src/derived/ranks/rebalance-ranks.js";
import { createDatabase, defineModel } from "../src/index.js";
import { tableContextOf } from "../src/state/context/any-database.js";
import { interferingKv } from "./faulty-kv.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const { parts } = intervalSize;
beforeAll(() => {
  intervalSize.parts = 3;
});
afterAll(() => {
  intervalSize.parts = parts;
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** A model with a counter of its own, so that no write of a test splits or merges by itself. */
const playerModel = () =>
  defineModel({
    name: "players",
    schema: z.object({ id: z.string(), score: z.number(), wins: z.int() }),
    primaryKey: "id",
    indexes: { byScore: { key: "score", ranked: true, sum: ["wins"] } },
  });
type PlayerModel = ReturnType<typeof playerModel>;

const open = (players: PlayerModel, on: Kv = kv) => createDatabase({ kv: on, models: { players } });
type Database = Awaited<ReturnType<typeof open>>;

const rowOf = (score: number) => ({ id: `p${score}`, score, wins: Math.ceil(score) });

async function fill(db: Database) {
  for (let i = 0; i < 9; i++) await db.players.create({ data: rowOf(10 * i) });
}

/** Splits or merges the intervals that contain a row, through a database. */
async function rebalance(db: Database, score: number, on?: Kv) {
  const context = tableContextOf(db, "players");
  const counter = context.model.counters.find(({ ranked }) => ranked !== undefined)!;
  const within = on === undefined ? context : { ...context, kv: on };
  await rebalanceRanks(within, counter, [score, `p${score}`]);
}

async function fences() {
  const prefix = ["__keywright", "count", "players_by_score ranked(wins)", "fence", 1];
  const found: unknown[] = [];
  for await (const { key } of kv.list({ prefix })) found.push(key[6]);
  return found.filter((score) => score !== undefined);
}

describe("a writer adds an entry to the right interval", () => {
  it("if the interval is split before its commit", async () => {
    const model = playerModel();
    const db = await open(model);
    await fill(db);
    let attempts = 0;
    const late = await open(
      model,
      interferingKv(kv, async () => {
        if (attempts++ === 0) await rebalance(db, 80);
      }),
    );
    await late.players.create({ data: rowOf(81) });
    expect(await fences()).toEqual([30, 60]);
    expect(attempts).toBe(2);
    await expectIndexesToMatch(kv, model as never);
  });

  it("if the interval is merged before its commit", async () => {
    const model = playerModel();
    const db = await open(model);
    await fill(db);
    await rebalance(db, 80);
    for (const score of [60, 70]) await db.players.delete({ where: { id: `p${score}` } });
    let attempts = 0;
    const late = await open(
      model,
      interferingKv(kv, async () => {
        if (attempts++ === 0) await rebalance(db, 80);
      }),
    );
    await late.players.create({ data: rowOf(81) });
    expect(await fences()).toEqual([30]);
    expect(attempts).toBe(2);
    await expectIndexesToMatch(kv, model as never);
  });
});

describe("an interval is split exactly", () => {
  it("if rows are written between the reads of its number and of its entries", async () => {
    const model = playerModel();
    const db = await open(model);
    await fill(db);
    let written = 0;
    const slow = writingKv(async () => {
      if (written < 4) await db.players.create({ data: rowOf(++written) });
    });
    await rebalance(db, 80, slow);
    expect(written).toBe(4);
    expect(await fences()).toEqual([20, 50]);
    await expectIndexesToMatch(kv, model as never);
  });

  it("and not at all if rows of all intervals are written all the time", async () => {
    const model = playerModel();
    const db = await open(model);
    await fill(db);
    let written = 0;
    const slow = writingKv(async () => {
      written++;
      const other = await open(playerModel());
      for (const from of [0, 30, 60])
        await other.players.create({ data: rowOf(from + written / 64) });
    });
    await rebalance(db, 80, slow);
    expect(written).toBeGreaterThan(10);
    expect(await fences()).toEqual([]);
    await expectIndexesToMatch(kv, model as never);
  });

  it("if two programs split it at once", async () => {
    const model = playerModel();
    const databases = await Promise.all(Array.from({ length: 4 }, () => open(model)));
    await fill(databases[0]!);
    await Promise.all(databases.map((db) => rebalance(db, 80)));
    await expectIndexesToMatch(kv, model as never);
  });
});

/** The same database, with a write before each list of the entries of the index. */
function writingKv(write: () => Promise<void>): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "list") {
        return (...args: Parameters<Kv["list"]>) => {
          const { start, prefix } = args[0] as { start?: KvKey; prefix?: KvKey };
          return (async function* () {
            if ((start ?? prefix)?.[0] === "players_by_score") await write();
            yield* target.list(...args);
          })();
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
