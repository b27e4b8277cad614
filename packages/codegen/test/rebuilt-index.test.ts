import { afterEach, expect, it } from "vitest";
import { players, playersModule, playersProject } from "./players-project.js";
import type { Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

it("counts the entries of a rebuilt index at its new place", async () => {
  project = await playersProject(players(3), '{ byTeam: { key: "team" } }', {
    "models/player.ts": playersModule('{ byTeam: { key: ["team", "score"] } }'),
  });
  const plan = await project.run(["migrate", "plan"]);
  expect(plan.stdout).toContain("is rebuilt beside its entries");
  const run = await project.run(["migrate", "run"]);
  expect(run.exitCode).toBe(0);
  const { stdout } = await project.run(["inspect", "stats", "--json"]);
  const stats = JSON.parse(stdout).result;
  expect(stats.models).toMatchObject([
    { model: "players", indexes: { byTeam: { state: "readable", keys: 3 } } },
  ]);
  expect(stats.others).toEqual([]);
});
