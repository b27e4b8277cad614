import { existsSync } from "node:fs";
import { openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import { contents, playersConfig, playersModule, withDatabase } from "./players-project.js";
import { createProject, type Project } from "./project.js";

const byTeam = '{ byTeam: { key: "team" } }';

const adopting = playersConfig(
  `adopt: {
    from: () => openKv(new URL("./old", import.meta.url).pathname),
    models: { players: guideLayout(Player) },
  },`,
  'import { guideLayout } from "@keywright/orm/adopt";\nimport { Player } from "./models/player.js";',
);

let project: Project;

afterEach(async () => {
  await project?.remove();
});

/**
 * A project beside a database that somebody wrote by hand as the guide shows: with an entry
 * forgotten, and a bad row.
 */
async function adoptingProject(configuration: string = adopting): Promise<void> {
  project = await createProject({
    "keywright.config.ts": configuration,
    "models/player.ts": playersModule(byTeam),
  });
  const old = await openKv(project.path("old"));
  try {
    await old.set(["players", "1"], { id: "1", team: "red", score: "5" });
    await old.set(["players_by_team", "red", "1"], "1");
    await old.set(["players", "2"], { id: "2", team: "red", score: "6" });
    await old.set(["players", "3"], { id: "3", team: "blue", score: 7 });
    await old.set(["players_by_team", "blue", "3"], "3");
  } finally {
    await old.close();
  }
}

it("makes rows of documents, and says what has become of each", async () => {
  await adoptingProject();
  await project.run(["migrate", "run"]);
  const shown = await project.run(["adopt", "--dry-run"]);
  expect(shown.stdout).toContain("2 rows to adopt");
  expect(await contents(project, ["players"])).toEqual([]);
  const adopted = await project.run(["adopt"]);
  expect(adopted.stdout).toContain(
    "players  3 documents: 2 rows adopted, 0 rows exist already, 1 failed",
  );
  expect(adopted.stdout).toMatch(/ {2}failed {2}"3" {2}.*score/);
  expect(adopted.stdout).toContain('  missing  ["players_by_team", "red", "2"]  document "2"');
  expect(adopted.exitCode).toBe(1);
  expect((await contents(project, ["players_by_team"])).length).toBe(2);

  const old = await openKv(project.path("old"));
  await old.set(["players", "3"], { id: "3", team: "blue", score: "7" });
  await old.close();
  const again = await project.run(["adopt", "--json"]);
  expect(JSON.parse(again.stdout).result).toMatchObject({
    status: "done",
    models: [{ failedCount: 0 }],
  });
  expect(again.exitCode).toBe(0);
  const row = await withDatabase(project, (kv) => kv.get(["players", "3"]));
  expect(row.value).toEqual({ id: "3", team: "blue", score: "7" });
});

it("KW_ADOPT_UNSET: says what is missing, and opens no database", async () => {
  await adoptingProject(playersConfig());
  const { exitCode, stdout, stderr } = await project.run(["adopt"]);
  expect(stderr).toContain("error KW_ADOPT_UNSET");
  expect(stderr).toContain(
    "KW_ADOPT_UNSET: keywright.config.ts: the setting `adopt` is missing; add",
  );
  expect(stderr).toContain("npx keywright adopt --help");
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(existsSync(project.path("data"))).toBe(false);
});

it("reports entries that it does not adopt, and restores deleted rows only if asked to", async () => {
  await adoptingProject(adopting.replace(/from: .*/, 'from: "old",'));
  const old = await openKv(project.path("old"));
  await old.set(["players", "1", "photo"], "x");
  await old.set(["players", "3"], { id: "3", team: "blue", score: "7" });
  await old.close();
  const adopted = await project.run(["adopt"]);
  expect(adopted.stdout).toContain("  not adopted  entries that are not documents: 1");
  await withDatabase(project, async (kv) => {
    await kv.atomic().delete(["players", "1"]).delete(["players_by_team", "red", "1"]).commit();
  });
  const again = await project.run(["adopt"]);
  expect(again.stdout).toContain("0 rows adopted, 2 rows exist already, 1 deleted since, 0 failed");
  expect((await project.run(["adopt", "--restore-deleted"])).stdout).toContain("1 row adopted");
});

it("KW_DATABASE_OPEN: says at which place the source cannot be opened", async () => {
  await adoptingProject(
    adopting.replace('openKv(new URL("./old", import.meta.url).pathname)', "undefined"),
  );
  const { exitCode, stderr } = await project.run(["adopt"]);
  expect(stderr).toContain("error KW_DATABASE_OPEN");
  expect(stderr).toContain(
    "KW_DATABASE_OPEN: keywright.config.ts: the function `adopt.from` failed;",
  );
  expect(exitCode).toBe(1);
});
