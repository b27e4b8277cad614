import { afterEach, expect, it } from "vitest";
import { contents, players, playersProject, withDatabase } from "../players-project.js";
import type { Project } from "../project.js";

const byTeam = '{ byTeam: { key: "team" } }';

let project: Project;

afterEach(async () => {
  await project?.remove();
});

it("says that whole indexes are clean", async () => {
  project = await playersProject(players(20), byTeam);
  const { exitCode, stdout } = await project.run(["verify"]);
  expect(stdout).toContain("players  20 rows, 20 entries of byTeam: clean\nClean.");
  expect(exitCode).toBe(0);
});

it.skipIf(process.platform === "win32").each([
  ["verify", "Clean."],
  ["inspect stats", "players"],
])("%s works beside a running program, and says so in one line", async (call, text) => {
  project = await playersProject(players(20), byTeam);
  const outcome = await withDatabase(project, () => project.spawn(call.split(" ")));
  const line = `Attached to process ${process.pid}, which has the database open.\n`;
  expect(outcome.stderr.startsWith(line)).toBe(true);
  expect(outcome.stderr.split("Attached").length).toBe(2);
  expect(outcome.stdout).toContain(text);
  expect(outcome.exitCode).toBe(0);
  // Alone, they say nothing.
  expect((await project.spawn(call.split(" "))).stderr).not.toContain("Attached");
});

it("finds entries that are wrong, and repairs them", async () => {
  project = await playersProject(players(20), byTeam);
  await withDatabase(project, async (kv) => {
    await kv.set(["players_by_team", "blue", "none"], "none");
    await kv.delete(["players_by_team", "team 3", "00003"]);
  });
  const found = await project.run(["verify"]);
  expect(found.stdout).toContain("1 missing, 1 dangling");
  expect(found.stdout).toContain('  dangling  byTeam  ["players_by_team", "blue", "none"]');
  expect(found.stdout).toContain('["players_by_team", "team 3", "00003"]  row "00003"');
  expect(found.stdout).toContain("npx keywright verify --repair");
  expect(found.exitCode).toBe(1);
  const json = await project.run(["verify", "--json", "--model", "players", "--index", "byTeam"]);
  expect(JSON.parse(json.stdout).result).toMatchObject({
    status: "damaged",
    models: [{ model: "players", counts: { missing: 1, dangling: 1, mismatched: 0 } }],
  });
  const repaired = await project.run(["verify", "--repair"]);
  expect(repaired.stdout).toContain("2 repaired");
  expect(repaired.exitCode).toBe(0);
  expect((await contents(project, ["players_by_team"])).length).toBe(20);
  expect((await project.run(["verify"])).exitCode).toBe(0);
});

it("says what it cannot repair", async () => {
  project = await playersProject(players(2), '{ byScore: { key: "score", unique: true } }');
  await project.run(["migrate", "run", "--accept-all"]);
  await withDatabase(project, (kv) =>
    kv.set(["players", "00001"], { id: "00001", team: "red", score: "0" }),
  );
  const { exitCode, stdout } = await project.run(["verify", "--repair"]);
  expect(stdout).toContain('row "00000" has the same unique value');
  expect(stdout).toContain("Damaged. Correct the rest yourself");
  expect(exitCode).toBe(1);
  // Without a repair too, where that would put nothing right.
  const again = await project.run(["verify"]);
  expect(again.stdout).toContain(
    "Damaged. Correct the rest yourself, then verify again:\n  - change the value of one of two",
  );
  expect(again.stdout).not.toContain("--repair");
  await withDatabase(project, (kv) => kv.delete(["players_by_score", "0"]));
  const both = await project.run(["verify"]);
  expect(both.stdout).toContain("To repair this:\n  npx keywright verify --repair");
});

it("names rows that an index cannot hold, which no repair puts right", async () => {
  project = await playersProject(
    players(20),
    '{ byScore: { key: "score", normalize: (score) => { if (score < 13) throw new Error("too low"); return score; } } }',
  );
  await project.run(["migrate", "run", "--accept-all"]);
  for (const args of [[], ["--repair"]]) {
    const { exitCode, stdout } = await project.run(["verify", ...args]);
    expect(stdout).toContain("20 rows, 7 entries of byScore: 13 cannot be indexed\n");
    expect(stdout).toContain('  row "00000"  cannot be in byScore: score: too low\n');
    expect(stdout).toContain("  … 3 more\n");
    expect(stdout).toContain(
      "Correct the rest yourself, then verify again:\n  - correct the rows that cannot",
    );
    expect(exitCode).toBe(1);
  }
});

it.each([
  { args: ["--model", "users"], message: "there is no model users: choose from players" },
  {
    args: ["--index", "byName"],
    message: "there is no index byName: choose from byTeam",
  },
])("refuses names that there are not: $args", async ({ args, message }) => {
  project = await playersProject(players(2), byTeam);
  const { exitCode, stdout, stderr } = await project.run(["verify", ...args]);
  expect(stderr).toContain(message);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
});

it("leaves out indexes that are not built, which migrate builds, also from a repair", async () => {
  project = await playersProject(players(2), '{ byScore: { key: "score" } }');
  for (const options of [[], ["--repair"]]) {
    const { exitCode, stdout } = await project.run(["verify", ...options]);
    expect(stdout).toContain("players  there is no index to check");
    expect(exitCode).toBe(0);
  }
});
