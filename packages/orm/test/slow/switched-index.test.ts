import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  hasMany,
  type ReplaceStep,
  replaceIndex,
} from "../../src/index.js";

const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { players: hasMany("players", "teamId") },
});
const copies = {
  byTeamCopy: { key: "teamId", store: "copy" },
  byEmailCopy: { key: "email", unique: true, store: "copy" },
} as const;
const players = {
  name: "players",
  schema: z.object({ id: z.string(), teamId: z.string(), email: z.string() }),
  primaryKey: "id",
  relations: { team: belongsTo("teams", "teamId") },
} as const;
const Before = defineModel({ ...players, indexes: copies });
const Both = defineModel({
  ...players,
  indexes: { ...copies, byTeam: { key: "teamId" }, byEmail: { key: "email", unique: true } },
});

/** Calls that read by one index or the other. */
const calls = {
  findMany: (db) => db.players.findMany({ where: { teamId: "t" } }),
  findUnique: (db) => db.players.findUnique({ where: { email: "a" } }),
  count: (db) => db.players.count({ where: { teamId: "t" } }),
  exists: (db) => db.players.exists({ where: { teamId: "t" } }),
  updateMany: (db) => db.players.updateMany({ where: { teamId: "t" }, data: { teamId: "t" } }),
  update: (db) => db.players.update({ where: { email: "a" }, data: { teamId: "t" } }),
  include: (db) => db.teams.findUnique({ where: { id: "t" }, include: { players: true } }),
} satisfies Record<string, (db: Awaited<ReturnType<typeof openBoth>>) => unknown>;

async function openBoth(kv: Awaited<ReturnType<typeof openKv>>) {
  return await createDatabase({ kv, models: { teams: Team, players: Both } });
}

it.each(Object.entries(calls))(
  "%s reads by the other index from the first call on when another program has switched to it",
  async (_name, call) => {
    const kv = await openKv();
    try {
      const old = await createDatabase({ kv, models: { teams: Team, players: Before } });
      await old.teams.create({ data: { id: "t" } });
      await old.players.create({ data: { id: "1", teamId: "t", email: "a" } });
      const runner = await openBoth(kv);
      const all = async (step: ReplaceStep) => {
        for (const [from, to] of [
          ["byTeamCopy", "byTeam"],
          ["byEmailCopy", "byEmail"],
        ] as const) {
          await replaceIndex(runner, { model: "players", from, to, step });
        }
      };
      await all("backfill");
      const db = await openBoth(kv);
      const before = JSON.stringify(await call(db));
      for (const step of ["switch", "back", "switch", "clean-up"] as const) {
        await all(step);
        // What the program has read of the catalog is not believed for long.
        await new Promise((resolve) => setTimeout(resolve, 120));
        expect(JSON.stringify(await call(db)), step).toBe(before);
      }
    } finally {
      await kv.close();
    }
  },
);
