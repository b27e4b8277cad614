// What a program may still believe of a catalog that others have changed, and what not.
import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineMigration, defineModel, migrate } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { contextOf } from "./migration-run.js";
import { rejection } from "./user-model.js";

const schema = z.object({ id: z.string(), team: z.string() });
const base = { name: "players", schema, primaryKey: "id" } as const;
const Bare = defineModel(base);
const Player = defineModel({ ...base, indexes: { byTeam: { key: "team" } } });
const Counted = defineModel({
  ...base,
  count: true,
  indexes: { byTeam: { key: "team", count: true } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const openCounted = () => createDatabase({ kv, models: { players: Counted } });
type CountedPlayers = Awaited<ReturnType<typeof openCounted>>;

async function fill({ players }: CountedPlayers, count: number): Promise<void> {
  const data = Array.from({ length: count }, (_, i) => ({ id: `${i}`, team: "red" }));
  await players.createMany({ data });
}

/** A database whose `get` waits behind its answer where `hold` says so. */
function heldKv(on: Kv, hold: (key: KvKey) => Promise<void> | undefined): Kv {
  return new Proxy(on, {
    get(target, property) {
      if (property === "get") {
        return async (key: KvKey) => {
          const entry = await target.get(key);
          await hold(key);
          return entry;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

describe("a program that only reads", () => {
  it("counts right when another has dropped the counters", async () => {
    const reader = await openCounted();
    await fill(reader, 10);
    const other = await createDatabase({ kv, models: { players: Player } });
    expect((await migrate(other, { accept: true })).status).toBe("done");
    expect(await reader.players.count()).toBe(10);
    expect(await reader.players.count({ where: { team: "red" } })).toBe(10);
  });

  it("is told when another has dropped a counted index", async () => {
    const reader = await openCounted();
    await fill(reader, 10);
    const other = await createDatabase({ kv, models: { players: Bare } });
    expect((await migrate(other, { accept: true })).status).toBe("done");
    const error = await rejection(reader.players.count({ where: { team: "red" } }));
    expect(error.code).toBe("KW_INDEX_NOT_READY");
  });

  it("counts right while another repairs, which counts anew", async () => {
    const reader = await openCounted();
    await fill(reader, 600);
    const other = await openCounted();
    await kv.delete(["players_by_team", "red", "5"]);
    const seen = new Set<number>();
    let isDone = false;
    const repair = verifyIndexes(other, { repair: true }).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      seen.add(await reader.players.count());
      await sleep(10);
    }
    expect((await repair).status).toBe("repaired");
    expect([...seen]).toEqual([600]);
  });
});

it("an index that was dropped while a program was opened is not taken for readable", async () => {
  const players = await openCounted();
  await fill(players, 20);
  // A schema that the database does not know has opening read more than the catalog.
  const Later = defineModel({
    ...Player,
    schema: schema.extend({ note: z.string().optional() }),
  });
  let [hasBegun, begun] = [false, (): void => undefined];
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const slow = heldKv(kv, (key) => {
    if (key[1] !== "schema" || hasBegun) return undefined;
    hasBegun = true;
    begun();
    return dropped;
  });
  const dropped = beginning
    .then(() => createDatabase({ kv, models: { players: Bare } }))
    .then((other) => migrate(other, { accept: true }))
    .then(() => undefined);
  const db = await createDatabase({ kv: slow, models: { players: Later } });
  const error = await rejection(db.players.findMany({ where: { team: "red" } }));
  expect(error.code).toBe("KW_INDEX_NOT_READY");
});

it("a catalog that was read earlier does not take the place of one read later", async () => {
  const before = z.object({ id: z.string(), score: z.number() });
  const after = z.object({ id: z.string(), score: z.int() });
  const Old = defineModel({ name: "games", schema: before, primaryKey: "id" });
  const New = defineModel({ name: "games", schema: after, primaryKey: "id" });
  const times = (up: (row: { id: string; score: number }) => { id: string; score: number }) =>
    defineMigration({ model: New, from: before, to: after, up });
  const tenfold = times((row) => ({ ...row, score: Math.trunc(row.score * 10) }));
  const old = await createDatabase({ kv, models: { games: Old } });
  await old.games.createMany({
    data: [
      { id: "1", score: 1.5 },
      { id: "2", score: 2.5 },
    ],
  });

  let hold: Promise<void> | undefined;
  const slow = heldKv(kv, (key) => {
    if (key[1] !== "schema") return undefined;
    const own = hold;
    hold = undefined;
    return own;
  });
  const reader = await createDatabase({ kv: slow, models: { games: New }, migrations: [tenfold] });
  const find = async () => (await reader.games.findUnique({ where: { id: "1" } }))?.score;
  expect(await find()).toBe(15);
  // The catalog changes, so that a reload reads more than it.
  await old.games.create({ data: { id: "9", score: 9 }, expireIn: 1e9 });
  let release = (): void => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  const slowReload = contextOf(reader, "games").catalog.reload();
  while (hold !== undefined) await sleep(1);

  // Another process changes the rows, but for one that fails.
  const failing = times((row) => {
    if (row.id === "2") throw new Error("not this one");
    return { ...row, score: Math.trunc(row.score * 10) };
  });
  const runner = await createDatabase({ kv, models: { games: New }, migrations: [failing] });
  expect((await migrate(runner)).status).toBe("failed-rows");
  expect(await find()).toBe(15);
  release();
  await slowReload;
  expect(await find()).toBe(15);
});

describe("how long a catalog may be relied on", () => {
  it("is longer on a database that other processes use, and so is the wait of a removal", async () => {
    const shared = new Proxy(kv, {
      get(target, property) {
        if (property === "isShared") return true;
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const times = async (on: Kv) => {
      const db = await createDatabase({ kv: on, models: { players: Player } });
      const { maxAgeMs, readerGraceMs } = contextOf(db, "players").catalog;
      return { maxAgeMs, readerGraceMs };
    };
    expect(await times(kv)).toEqual({ maxAgeMs: 100, readerGraceMs: 200 });
    expect(await times(shared)).toEqual({ maxAgeMs: 250, readerGraceMs: 1000 });
  });
});
