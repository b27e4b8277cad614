import { openKv } from "@keywright/core";
import { expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { rejection } from "./user-model.js";

const schema = z.object({
  id: z.string(),
  league: z.string(),
  score: z.int(),
  tags: z.string().array(),
});
const Player = defineModel({
  name: "players",
  schema,
  primaryKey: "id",
  indexes: {
    byLeague: { key: ["league", "score"], ranked: true },
    byScore: { key: "score" },
    byTag: { key: "tags", each: true, ranked: true },
  },
});
const Unranked = defineModel({
  name: "unranked",
  schema,
  primaryKey: "id",
  indexes: { byScore: { key: "score" } },
});

it("rank takes ranked indexes and their first fields", async () => {
  await using kv = await openKv();
  const { players } = await createDatabase({ kv, models: { players: Player } });
  const where = { id: "a" };
  await players.create({ data: { id: "a", league: "x", score: 1, tags: [] } });
  const rank = await players.rank({ index: "byLeague", where, by: ["league"] });
  expectTypeOf(rank).toEqualTypeOf<number | null>();
  expect(rank).toBe(0);
  expect(await players.rank({ index: "byLeague", where: { id: "b" } })).toBe(null);
  const refused = [
    // @ts-expect-error: the index is not ranked.
    players.rank({ index: "byScore", where }),
    // @ts-expect-error: there is no such index.
    players.rank({ index: "byNothing", where }),
    // @ts-expect-error: the fields do not name a row.
    players.rank({ index: "byLeague", where: { score: 1 } }),
    // @ts-expect-error: score is not the first field.
    players.rank({ index: "byLeague", where, by: ["score"] }),
    players.rank({ index: "byTag", where }),
  ];
  const codes: unknown[] = [];
  for (const each of refused) codes.push((await rejection(each)).code);
  expect(codes).toEqual([
    "KW_QUERY_UNINDEXED",
    "KW_INDEX_UNKNOWN",
    "KW_QUERY_UNINDEXED",
    "KW_ARGUMENT_INVALID",
    "KW_ARGUMENT_INVALID",
  ]);
});

it("skip needs a ranked index", async () => {
  await using kv = await openKv();
  const db = await createDatabase({ kv, models: { players: Player, unranked: Unranked } });
  const refused = [
    // @ts-expect-error: no index of the model is ranked.
    db.unranked.findMany({ where: { score: 1 }, skip: 1 }),
    // @ts-expect-error: a live query has no skip.
    Promise.resolve().then(() => db.players.watchMany({ where: { league: "x" }, skip: 1 })),
    db.players.findMany({ where: { score: 1 }, skip: 1 }),
    db.players.findMany({ where: { league: "x" }, skip: -1 }),
    db.players.findMany({ where: { league: "x" }, skip: 1, cursor: "x" }),
    db.players.findMany({ where: { league: "x" }, skip: 1, filter: () => true }),
    db.players.findMany({ where: { tags: { has: { in: ["a", "b"] } } }, skip: 1 } as never),
  ];
  const codes: unknown[] = [];
  for (const each of refused) codes.push((await rejection(Promise.resolve(each))).code);
  expect(codes).toEqual([
    "KW_QUERY_UNINDEXED",
    "KW_ARGUMENT_INVALID",
    "KW_QUERY_UNINDEXED",
    "KW_ARGUMENT_INVALID",
    "KW_ARGUMENT_INVALID",
    "KW_ARGUMENT_INVALID",
    "KW_ARGUMENT_INVALID",
  ]);
  const error = await rejection(db.players.findMany({ where: { score: 1 }, skip: 1 }));
  expect(error.message).toBe(
    "players.findMany: skip needs ranked: true on the index byScore; declare it, or read the pages one after another with the cursor",
  );
  expect(error).toMatchObject({ suggestion: '{ key: ["score"], ranked: true }' });
});

it("the rows with one element of a list can be skipped", async () => {
  await using kv = await openKv();
  const { players } = await createDatabase({ kv, models: { players: Player } });
  const data = ["a", "b", "c"].map((id) => ({ id, league: "x", score: 1, tags: ["t", id] }));
  await players.createMany({ data });
  const { items } = await players.findMany({ where: { tags: { has: "t" } }, skip: 1 });
  expect(items.map(({ id }) => id)).toEqual(["b", "c"]);
  const past = await players.findMany({ where: { tags: { has: "t" } }, skip: 3 });
  expect(past).toEqual({ items: [], cursor: null });
});

it("ranked must be a boolean", () => {
  const define = (indexes: object) => () =>
    defineModel({ name: "players", schema, primaryKey: "id", indexes } as never);
  expect(define({ byScore: { key: "score", ranked: 1 } })).toThrow("ranked");
});

it("rank and skip within a scope count its rows only", async () => {
  await using kv = await openKv();
  const model = defineModel({
    name: "players",
    schema: z.object({ id: z.string(), league: z.string(), score: z.int() }),
    primaryKey: "id",
    indexes: {
      byLeague: { key: ["league", "score"], ranked: true },
      byScore: { key: "score", ranked: true },
    },
  });
  const db = await createDatabase({ kv, models: { players: model } });
  const leagues = ["x", "y", "x", "y", "x"];
  const data = leagues.map((league, i) => ({ id: `p${i}`, league, score: i }));
  await db.players.createMany({ data });
  const { players } = db.scope({ league: "x" });
  expect(await players.rank({ index: "byLeague", where: { id: "p4" } })).toBe(2);
  expect(await players.rank({ index: "byLeague", where: { id: "p3" } })).toBe(null);
  // @ts-expect-error The key of the index does not begin with the league.
  const error = await rejection(players.rank({ index: "byScore", where: { id: "p4" } }));
  expect(error).toMatchObject({ code: "KW_INDEX_UNKNOWN" });
  const { items } = await players.findMany({ orderBy: { score: "desc" }, skip: 2 } as never);
  expect(items.map((row) => (row as { id: string }).id)).toEqual(["p0"]);
});
