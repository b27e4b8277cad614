import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, desc, hasMany } from "../src/index.js";
import { CountedEngine } from "./counted-engine.js";
import { recordingKv } from "./query-table.js";

const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { players: hasMany("players", "team") },
});
const Player = defineModel({
  name: "players",
  schema: z.object({
    id: z.string(),
    team: z.string(),
    number: z.int(),
    kind: z.literal(["guest", true]),
    side: z.union([z.literal(-1), z.string()]),
    shirt: z.bigint(),
    captain: z.boolean().optional(),
    name: z.string(),
    email: z.email(),
    born: z.date(),
    score: z.number(),
    tags: z.array(z.string()),
    bio: z.string(),
  }),
  primaryKey: "id",
  indexes: {
    byTeam: { key: ["team", "number"], include: ["name"] },
    byKind: { key: ["kind", "side", "shirt"], include: ["name"] },
    byEmail: { key: "email", unique: true, normalize: (v) => v.toLowerCase(), include: ["name"] },
    byName: { key: "name", unique: true, include: ["team"] },
    byBorn: { key: "born", include: ["name"] },
    byScore: { key: desc("score"), include: ["name"] },
    byTag: { key: ["tags", "team"], each: true, include: ["name"] },
    byCaptain: { key: ["captain", "team"], include: ["name"] },
  },
  relations: { club: belongsTo("teams", "team") },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function open(on: Kv = kv) {
  const db = await createDatabase({ kv: on, models: { teams: Team, players: Player } });
  await db.teams.create({ data: { id: "red" } });
  await db.players.create({
    data: {
      ...{
        id: "p1",
        team: "red",
        number: -0,
        captain: true,
        kind: "guest",
        side: "left",
        shirt: 7n,
        name: "Ada",
        email: "Ada@example.com",
      },
      ...{ born: new Date(0), score: 1.5, tags: ["a"], bio: "long" },
    },
  });
  return db;
}

it.each([
  ["the fields of the key", { where: { team: "red" } }, ["id", "team", "name"]],
  ["a literal and a bigint", { where: { kind: "guest" } }, ["kind", "shirt", "name"]],
  ["a boolean", { where: { captain: true } }, ["id", "captain", "team", "name"]],
  ["a field beside an element", { where: { tags: { has: "a" } } }, ["id", "team", "name"]],
] as const)("reads no row for %s", async (_, query, fields) => {
  const db = await open();
  const select = Object.fromEntries(fields.map((field) => [field, true]));
  const whole = (await db.players.findMany(query as never)).items[0] as Record<string, unknown>;
  const { covered } = await db.players.explain({ ...query, select } as never);
  expect(covered).toBe(true);
  const { items } = await db.players.findMany({ ...query, select } as never);
  expect(items).toEqual([Object.fromEntries(fields.map((field) => [field, whole[field]]))]);
});

it.each([
  ["a normalized field", { where: { email: "ada@example.com" } }, "email"],
  ["a date", { where: { born: new Date(0) } }, "born"],
  ["a descending field", { where: { score: 1.5 } }, "score"],
  ["a number", { where: { team: "red" } }, "number"],
  ["a literal number", { where: { kind: "guest" } }, "side"],
  ["an array", { where: { tags: { has: "a" } } }, "tags"],
] as const)(
  "reads the row for %s, which its key does not hold as it is",
  async (_, query, field) => {
    const db = await open();
    const select = { [field]: true };
    const whole = (await db.players.findMany(query as never)).items[0] as Record<string, unknown>;
    expect((await db.players.explain({ ...query, select } as never)).covered).toBe(false);
    const { items } = await db.players.findMany({ ...query, select } as never);
    expect(items).toEqual([{ [field]: whole[field] }]);
  },
);

it("reads only the entry of a unique index", async () => {
  const { kv: recorded, calls } = recordingKv(kv);
  const db = await open(recorded);
  calls.length = 0;
  const select = { id: true, name: true, team: true } as const;
  const player = await db.players.findUnique({ where: { name: "Ada" }, select });
  expect(player).toEqual({ id: "p1", name: "Ada", team: "red" });
  expect(calls).toEqual(["get"]);
});

it("loads a relation from the entries alone", async () => {
  const db = await open();
  const select = { id: true, team: true, name: true } as const;
  const team = await db.teams.findUnique({
    where: { id: "red" },
    include: { players: { select } },
  });
  expect(team?.players).toEqual([{ id: "p1", team: "red", name: "Ada" }]);
});

it("reads only the entries of an index with copies, also for a filter and an include", async () => {
  const Club = defineModel({ ...Team, relations: {} });
  const Copied = defineModel({
    name: "copied",
    schema: z.object({ id: z.string(), team: z.string(), score: z.int() }),
    primaryKey: "id",
    indexes: { byTeam: { key: "team", store: "copy" } },
    relations: { club: belongsTo("teams", "team") },
  });
  const { kv: recorded, calls } = recordingKv(kv);
  const db = await createDatabase({ kv: recorded, models: { teams: Club, copied: Copied } });
  await db.teams.create({ data: { id: "red" } });
  for (const score of [1, 2]) {
    await db.copied.create({ data: { id: `c${score}`, team: "red", score } });
  }
  const where = { team: "red" };
  calls.length = 0;
  const filter = ({ score }: { score: number }) => score === 2;
  const { items } = await db.copied.findMany({ where, filter });
  expect(items).toEqual([{ id: "c2", team: "red", score: 2 }]);
  expect(calls).toEqual(["list"]);
  const included = await db.copied.findMany({ where, include: { club: true } });
  expect(included.items[0]).toMatchObject({ id: "c1", club: { id: "red" } });
  // The second list is of the same entries, and the team of both rows is read once.
  expect(calls).toEqual(["list", "list", "get"]);
});

it("reads the lists of a database in memory at once, without a view", async () => {
  const Row = defineModel({
    name: "rows",
    schema: z.object({ id: z.string(), team: z.string() }),
    primaryKey: "id",
    indexes: { byTeam: { key: "team" } },
  });
  const opened: string[] = [];
  const { kv: counted, calls } = recordingKv(kv);
  const watched = new Proxy(counted, {
    get(target, property) {
      if (property !== "openView") return Reflect.get(target, property) as unknown;
      return () => {
        opened.push("view");
        return target.openView();
      };
    },
  });
  const db = await createDatabase({ kv: watched, models: { rows: Row } });
  await db.rows.createMany({ data: [1, 2, 3].map((n) => ({ id: `r${n}`, team: "red" })) });
  opened.length = 0;
  calls.length = 0;
  const { items } = await db.rows.findMany({ where: { team: "red" } });
  expect(items.map(({ id }) => id)).toEqual(["r1", "r2", "r3"]);
  expect([opened, calls]).toEqual([[], ["list", "getMany 3"]]);
});

it("reads no more rows of a list at once than the database allows", async () => {
  class LimitedEngine extends CountedEngine {
    override readonly limits = { keys: 3 };

    override getMany(keys: readonly Uint8Array[]): ReturnType<CountedEngine["getMany"]> {
      expect(keys.length).toBeLessThanOrEqual(3);
      return super.getMany(keys);
    }
  }
  const Row = defineModel({
    name: "rows",
    schema: z.object({ id: z.int(), team: z.string() }),
    primaryKey: "id",
    indexes: { byTeam: { key: "team" } },
  });
  const limited = await openKv(new LimitedEngine());
  try {
    const db = await createDatabase({ kv: limited, models: { rows: Row } });
    const data = Array.from({ length: 8 }, (_, id) => ({ id, team: "red" }));
    for (const row of data) await db.rows.create({ data: row });
    expect((await db.rows.findMany({ where: { team: "red" } })).items).toEqual(data);
  } finally {
    await limited.close();
  }
});
