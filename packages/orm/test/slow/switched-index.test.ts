import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany, migrate } from "../../src/index.js";

const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { players: hasMany("players", "teamId") },
});
const players = {
  name: "players",
  schema: z.object({ id: z.string(), teamId: z.string(), email: z.string() }),
  primaryKey: "id",
  relations: { team: belongsTo("teams", "teamId") },
} as const;
const Copies = defineModel({
  ...players,
  indexes: {
    byTeam: { key: "teamId", store: "copy" },
    byEmail: { key: "email", unique: true, store: "copy" },
  },
});
const Pointers = defineModel({
  ...players,
  indexes: { byTeam: { key: "teamId" }, byEmail: { key: "email", unique: true } },
});

async function open(kv: Awaited<ReturnType<typeof openKv>>, model: typeof Pointers) {
  return await createDatabase({ kv, models: { teams: Team, players: model } });
}
type Db = Awaited<ReturnType<typeof open>>;

/** Calls that read by one definition of an index or the other. */
const reads = {
  findMany: (db) => db.players.findMany({ where: { teamId: "t" } }),
  findUnique: (db) => db.players.findUnique({ where: { email: "a" } }),
  count: (db) => db.players.count({ where: { teamId: "t" } }),
  exists: (db) => db.players.exists({ where: { teamId: "t" } }),
  include: (db) => db.teams.findUnique({ where: { id: "t" }, include: { players: true } }),
} satisfies Record<string, (db: Db) => unknown>;
const writes = {
  updateMany: (db) => db.players.updateMany({ where: { teamId: "t" }, data: { teamId: "t" } }),
  update: (db) => db.players.update({ where: { email: "a" }, data: { teamId: "t" } }),
} satisfies Record<string, (db: Db) => unknown>;

it.each(Object.entries({ ...reads, ...writes }))(
  "%s reads by the other definition from the first call on when another program has switched to it",
  async (name, call) => {
    const kv = await openKv();
    try {
      const models = [Copies as unknown as typeof Pointers, Pointers] as const;
      const first = await open(kv, models[0]);
      await first.teams.create({ data: { id: "t" } });
      await first.players.create({ data: { id: "1", teamId: "t", email: "a" } });
      const programs = [first, await open(kv, models[1])];
      const before = JSON.stringify(await call(first));
      for (const now of [1, 0, 1] as const) {
        const runner = await open(kv, models[now]);
        expect((await migrate(runner, { accept: true })).status).toBe("done");
        // What the program has read of the catalog is not believed for long.
        await new Promise((resolve) => setTimeout(resolve, 120));
        expect(JSON.stringify(await call(programs[now]!))).toBe(before);
        const other = Promise.resolve(call(programs[1 - now]!)).then((result) =>
          JSON.stringify(result),
        );
        if (Object.hasOwn(writes, name)) {
          await expect(other).rejects.toMatchObject({ code: "KW_INDEX_CHANGED" });
        } else expect(await other).toBe(before);
      }
    } finally {
      await kv.close();
    }
  },
);
