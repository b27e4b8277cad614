import { createDatabase, defineModel } from "@keywright/orm";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import {
  type Player,
  players,
  playersModule,
  playersProject,
  withDatabase,
} from "./players-project.js";
import type { Project } from "./project.js";

const byTeam = '{ byTeam: { key: "team" } }';
const changed = playersModule(byTeam).replace('primaryKey: "id"', 'primaryKey: "score"');

let project: Project;

afterEach(async () => {
  await project?.remove();
});

async function projectWith(...others: readonly Player[]): Promise<void> {
  project = await playersProject([...players(3), ...others], byTeam, {
    "models/player.ts": changed,
  });
}

it("changes a primary key by the command, and counts the rows in their new place", async () => {
  await projectWith();
  const plan = await project.run(["migrate", "plan"]);
  expect(plan.stdout).toContain('The primary key was ["id"] and is ["score"].');
  const written = await project.run(["migrate", "new", "score"]);
  expect(written.stdout).toContain("needs no migration of rows");
  const run = await project.run(["migrate", "run", "--accept-all"]);
  expect(run.exitCode).toBe(0);
  expect(run.stdout).toContain("Done.");
  const { stdout } = await project.run(["inspect", "stats", "--json"]);
  const stats = JSON.parse(stdout).result;
  expect(stats.models).toMatchObject([
    { model: "players", rows: { keys: 3 }, indexes: { byTeam: { keys: 3 } } },
  ]);
  expect(stats.others).toEqual([]);
});

it("lists the rows that prevent the change, and completes it when they are gone", async () => {
  await projectWith({ id: "x", team: "red", score: "1" });
  const run = await project.run(["migrate", "run", "--accept-all"]);
  expect(run.exitCode).toBe(1);
  expect(run.stdout).toContain("primaryKey (score) is unique, but 1 row has a value");
  expect(run.stdout).toContain('"1"  in rows "00001", "x"');
  expect(run.stdout).toContain("Not complete. The primary key stays as it was");
  const list = ["migrate", "status", "--duplicates", "players.primaryKey (score)"];
  expect((await project.run(list)).stdout).toContain('"x"');
  await withDatabase(project, async (kv) => {
    const schema = z.object({ id: z.string(), team: z.string(), score: z.string() });
    const indexes = { byTeam: { key: "team" } } as const;
    const Player = defineModel({ name: "players", schema, primaryKey: "id", indexes });
    const db = await createDatabase({ kv, models: { players: Player } });
    await db.players.delete({ where: { id: "x" } });
  });
  const again = await project.run(["migrate", "resume", "--accept-all"]);
  expect(again.stdout).toContain("Done.");
});
