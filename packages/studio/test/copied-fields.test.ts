import { openKv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel } from "@keywright/orm";
import { expect, it } from "vitest";
import * as z from "zod";
import { endOfJob } from "./end-of-job.js";
import { openStudio } from "./open-studio.js";

const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
});
const Player = defineModel({
  name: "players",
  schema: z.object({ id: z.string(), teamId: z.string(), team: z.string().default("") }),
  primaryKey: "id",
  count: true,
  indexes: { byTeam: { key: "teamId" } },
  relations: { of: belongsTo("teams", "teamId", { copy: { team: "name" } }) },
});
const models = { teams: Team, players: Player };

it("describes copied fields, and says which rows have a wrong copy or count", async () => {
  await using kv = await openKv();
  const db = await createDatabase({ kv, models });
  await db.teams.create({ data: { id: "a", name: "A" } });
  await db.players.create({ data: { id: "p", teamId: "a" } });
  await using open = await openStudio({ kv, models });
  const { models: described } = await open.call("info", null);
  const players = described.find(({ name }) => name === "players");
  expect(players?.fields.map(({ name, copied }) => [name, copied])).toEqual([
    ["id", null],
    ["teamId", null],
    ["team", "of.name"],
  ]);
  await kv.set(["players", "p"], { id: "p", teamId: "a", team: "B" });
  await kv.atomic().sum(["__keywright", "count", "players"], 1n).commit();
  await open.call("verify", { isRepair: false });
  const { found } = await endOfJob(open);
  expect(found.map(({ index, mismatched }) => [index, mismatched])).toEqual([
    ["byTeam", 0],
    ["counts, sums and ranks", 1],
    ["copied fields", 1],
  ]);
});
