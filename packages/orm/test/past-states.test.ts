import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";

const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.int(), name: z.string() }),
  primaryKey: "id",
  count: true,
  indexes: { byName: { key: "name", unique: true } },
  relations: { players: hasMany("players", "teamId") },
});
const Player = defineModel({
  name: "players",
  schema: z.object({
    id: z.int(),
    teamId: z.int(),
    score: z.int(),
    deletedAt: z.date().nullable().default(null),
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  indexes: {
    byTeam: { key: ["teamId", "score"], count: true, sum: ["score"] },
    byScore: { key: "score", ranked: true },
  },
  relations: { team: belongsTo("teams", "teamId", { onDelete: "cascade" }) },
});
const models = { teams: Team, players: Player };
const Item = defineModel({
  name: "items",
  schema: z.object({ id: z.int() }),
  primaryKey: "id",
  count: true,
});

const openModels = (kv: EmbeddedKv) => createDatabase({ kv, models });
type Db = Awaited<ReturnType<typeof openModels>>;
type Reads = Parameters<Parameters<Db["snapshot"]>[0]>[0];

/** Returns everything that queries of all kinds say of a state. */
async function stateOf(reads: Reads): Promise<unknown> {
  const teams = await reads.teams.scan({ include: { players: true } });
  const ids = teams.items.map(({ id }) => id);
  return {
    teams: teams.items,
    players: (await reads.players.scan({ withDeleted: true, withVersionstamp: true })).items,
    count: await reads.teams.count(),
    byName: await reads.teams.findUnique({ where: { name: "team 1" }, withVersionstamp: true }),
    byId: await reads.players.findUnique({ where: { id: 3 }, include: { team: true } }),
    ofTeams: await Promise.all(
      ids.map(async (teamId) => ({
        rows: (await reads.players.findMany({ where: { teamId }, orderBy: { score: "desc" } }))
          .items,
        totals: await reads.players.aggregate({
          where: { teamId },
          count: true,
          sum: { score: true },
        }),
        scoped: await reads.scope({ teamId }).players.count({ where: { score: { gte: 5 } } }),
      })),
    ),
    third: (await reads.players.findMany({ orderBy: { score: "asc" }, skip: 2, take: 2 })).items,
    rank: await reads.players.rank({ where: { id: 3 }, index: "byScore" }),
  };
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Makes one random write. Those that a constraint refuses change nothing. */
async function write(db: Db, random: (below: number) => number): Promise<void> {
  const id = random(12);
  const teamId = random(4);
  const score = random(10);
  const kind = random(9);
  try {
    if (kind === 0) await db.teams.create({ data: { id: teamId, name: `team ${random(4)}` } });
    else if (kind === 1) await db.teams.delete({ where: { id: teamId } });
    else if (kind === 2) await db.players.purge({ where: { id } });
    else if (kind === 3) await db.players.delete({ where: { id } });
    else if (kind === 4) {
      await db.transaction(async (tx) => {
        await tx.players.update({ where: { id }, data: { score, teamId } });
        await tx.teams.update({ where: { id: teamId }, data: { name: `team ${random(4)}` } });
      });
    } else if (kind === 5) {
      const update = { score };
      await db.players.upsert({ where: { id }, create: { id, teamId, score }, update });
    } else if (kind === 6) await db.players.update({ where: { id }, data: { score } });
    else await db.players.create({ data: { id, teamId, score } });
  } catch (error) {
    expect((error as { code?: string }).code).toMatch(
      /^KW_(UNIQUE_CONSTRAINT|REFERENCE_MISSING|ROW_NOT_FOUND|ROW_REFERENCED)$/,
    );
  }
}

async function newest(kv: EmbeddedKv, after?: string): Promise<string | undefined> {
  let versionstamp = after;
  for await (const commit of kv.changes({ after, live: false })) versionstamp = commit.versionstamp;
  return versionstamp;
}

async function compareStates(kv: EmbeddedKv, moments: number, seed: number): Promise<void> {
  const db = await openModels(kv);
  const random = randomFrom(seed);
  const states: { readonly moment: string; readonly state: unknown }[] = [];
  let moment: string | undefined;
  for (let n = 0; n < moments; n++) {
    for (let i = random(4); i >= 0; i--) await write(db, random);
    const state = await db.snapshot(stateOf);
    moment = await newest(kv, moment);
    states.push({ moment: moment!, state });
  }
  for (const { moment, state } of states)
    expect(await db.at(moment, stateOf), `seed ${seed}, moment ${moment}`).toEqual(state);
}

describe("db.at", () => {
  it("reads what a snapshot read at that moment, at 200 random moments", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    await compareStates(kv, 200, 7);
  });

  it("reads the same on LevelDB", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keywright-past-"));
    try {
      await using kv = await openKv(folder, { log: {}, durability: "relaxed" });
      await compareStates(kv, 40, 11);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("has no rows of a model that was added later, and cannot write", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const before = await openModels(kv);
    await before.teams.create({ data: { id: 1, name: "a" } });
    const moment = (await newest(kv))!;
    const db = await createDatabase({ kv, models: { ...models, items: Item } });
    await db.teams.update({ where: { id: 1 }, data: { name: "b" } });
    await db.items.create({ data: { id: 1 } });
    const found = await db.at(moment, async (past) => {
      const creating = (past as unknown as Db).teams.create({ data: { id: 2, name: "c" } });
      await expect(creating).rejects.toMatchObject({ code: "KW_SNAPSHOT_READ_ONLY" });
      return [await past.teams.findUnique({ where: { id: 1 } }), await past.items.count()];
    });
    expect(found).toEqual([{ id: 1, name: "a" }, 0]);
    await expect(db.at(moment, async () => 1, { maxChanges: 1 })).rejects.toMatchObject({
      code: "KW_PAST_LIMIT",
    });
    const reason = new Error("stopped");
    const stopped = db.at(moment, async () => 1, { signal: AbortSignal.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
  });

  it("reads the state at a time", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const db = await openModels(kv);
    await db.teams.create({ data: { id: 1, name: "a" } });
    const time = new Date();
    while (Date.now() <= time.getTime()) await new Promise((resolve) => setTimeout(resolve, 1));
    await db.teams.update({ where: { id: 1 }, data: { name: "b" } });
    const past = await db.at(time, (view) => view.teams.findUnique({ where: { id: 1 } }));
    expect(past).toEqual({ id: 1, name: "a" });
  });
});
