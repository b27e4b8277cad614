import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";

const schema = z.object({ id: z.string(), league: z.int(), score: z.int() });
const Plain = defineModel({
  name: "players",
  schema,
  primaryKey: "id",
  indexes: { byLeague: { key: ["league", "score"] } },
});
const Player = defineModel({
  name: "players",
  schema,
  primaryKey: "id",
  indexes: { byLeague: { key: ["league", "score"], ranked: true } },
});

/** Opens a database with ranks over a number of rows, half of them in each of two leagues. */
async function filled(kv: EmbeddedKv, size: number) {
  const plain = await createDatabase({ kv, models: { players: Plain } });
  const data = Array.from({ length: size }, (_, i) => {
    return { id: `p${String(i).padStart(5, "0")}`, league: i % 2, score: i };
  });
  await plain.players.createMany({ data });
  const reads: number[] = [];
  const db = await createDatabase({
    kv,
    models: { players: Player },
    onQuery: (event) => reads.push(event.reads),
  });
  await migrate(db);
  return { db, reads };
}

describe.each([
  [100, 140],
  [5000, 330],
])("with %d rows", (size, maxReads) => {
  let kv: EmbeddedKv;
  let opened: Awaited<ReturnType<typeof filled>>;
  beforeAll(async () => {
    kv = await openKv();
    opened = await filled(kv, size);
  });
  afterAll(() => kv.close());

  const half = size / 2;

  it(`ranks, counts and pages need at most ${maxReads} reads`, async () => {
    const { db, reads } = opened;
    reads.length = 0;
    for (let i = 0; i < 10; i++) {
      const position = Math.floor(((i + 0.5) * half) / 10);
      const id = `p${String(2 * position + 1).padStart(5, "0")}`;
      const where = { id };
      expect(await db.players.rank({ index: "byLeague", where })).toBe(half + position);
      expect(await db.players.rank({ index: "byLeague", where, by: ["league"] })).toBe(position);
      const count = await db.players.count({ where: { league: 1, score: { gt: 2 * position } } });
      expect(count).toBe(half - position);
      const { items } = await db.players.findMany({
        where: { league: 1 },
        orderBy: { score: "asc" },
        skip: position,
        take: 1,
      });
      expect(items.map((row) => row.id)).toEqual([id]);
    }
    expect(Math.max(...reads)).toBeLessThan(maxReads);
  });
});
