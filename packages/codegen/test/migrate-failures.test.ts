import { afterEach, describe, expect, it } from "vitest";
import { previewRows } from "../src/cli/migrate/run/preview-rows.js";
import { withProject } from "../src/project/open-project.js";
import {
  contents,
  type Player,
  players,
  playersConfig,
  playersModule,
  playersProject,
  withDatabase,
} from "./players-project.js";
import type { Project } from "./project.js";

const byTeam = '{ byTeam: { key: "team" } }';

const migration = `import { defineMigration } from "@keywright/orm";
import * as z from "zod";
import { Player } from "./models/player.js";

export const scores = defineMigration({
  model: Player,
  from: z.object({ id: z.string(), team: z.string(), score: z.string() }),
  to: z.object({ id: z.string(), team: z.string(), score: z.int() }),
  up: (row) => ({ ...row, score: Number(row.score) }),
  down: ({ score, ...row }) => {
    if (score === 13) throw new Error("no thirteen");
    return { ...row, score: String(score) };
  },
});
`;

const files = {
  "models/player.ts": playersModule(
    byTeam,
    "z.object({ id: z.string(), team: z.string(), score: z.int() })",
  ),
  "migration.ts": migration,
  "keywright.config.ts": playersConfig(
    "migrations: [scores],",
    'import { scores } from "./migration.js";',
  ),
};

const badRow: Player = { id: "x", team: "red", score: "nine" };

let project: Project;

afterEach(async () => {
  await project?.remove();
});

/** A project with a change of rows that its first rows take, and these do not. */
async function changingProject(...badRows: readonly Player[]): Promise<void> {
  project = await playersProject([...players(3), ...badRows], byTeam, files);
}

describe("a run whose plan begins a change of rows", () => {
  it("tries all rows first, and begins nothing where some would fail", async () => {
    await changingProject(badRow);
    const before = await contents(project);
    const refused = await project.run(["migrate", "run", "--accept-all"]);
    expect(refused.stdout).toMatch(
      /\n\nplayers {2}3 of 4 rows would change, 1 would fail\n {2}"x" {2}! .* not fit the schema/,
    );
    expect(refused.stdout).toContain(
      "\n\nNothing was changed. Correct the migration or the rows, then run the command again. With --accept-failures",
    );
    expect(refused.stdout).not.toContain("The changes in");
    expect(refused).toMatchObject({ exitCode: 1, stderr: "" });
    expect(await contents(project)).toEqual(before);
    await withDatabase(project, (kv) => kv.delete(["players", "x"]));
    const done = await project.run(["migrate", "run"]);
    expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Done.") });
  });

  it("says so in JSON", async () => {
    await changingProject(badRow);
    const before = await contents(project);
    const refused = await project.run(["migrate", "run", "--json"]);
    expect(JSON.parse(refused.stdout).result).toMatchObject({
      status: "refused",
      plan: { isBreaking: false },
      previews: [
        {
          model: "players",
          rows: [],
          rowCount: 4,
          changedCount: 3,
          failed: [{ id: "x", before: badRow }],
          failedCount: 1,
        },
      ],
    });
    expect(refused.exitCode).toBe(1);
    expect(await contents(project)).toEqual(before);
  });

  it("begins it all the same where that is accepted, and is then gone on with untried", async () => {
    await changingProject(badRow);
    const run = await project.run(["migrate", "run", "--accept-failures", "--json"]);
    expect(JSON.parse(run.stdout).result).toMatchObject({
      status: "failed-rows",
      failed: [{ id: "x" }],
    });
    expect(run.exitCode).toBe(1);
    for (const command of ["resume", "run"]) {
      const again = await project.run(["migrate", command]);
      expect(again.stdout).toContain("Not complete. Correct the migration or the rows");
      expect(again.exitCode).toBe(1);
    }
  });

  it("is refused as a rollback, too", async () => {
    await changingProject({ id: "y", team: "red", score: "13" });
    expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
    await project.write({ "models/player.ts": playersModule(byTeam) });
    const before = await contents(project);
    const refused = await project.run(["migrate", "rollback", "--accept-all"]);
    expect(refused.stdout).toContain('1 would fail\n  "y"  ! no thirteen\n\nNothing was changed.');
    expect(refused.exitCode).toBe(1);
    expect(await contents(project)).toEqual(before);
  });

  it("reads no more rows in a second than it may while it tries them", async () => {
    project = await playersProject(players(600), byTeam, files);
    await withProject(project.folder, undefined, async ({ database }) => {
      const startedAt = performance.now();
      await previewRows(database, "players", { rowsPerSecond: 1000 });
      expect(performance.now() - startedAt).toBeGreaterThan(490);
    });
  });
});

it("a dry run shows rows that change, and says how many do", async () => {
  const withLevel =
    "z.object({ id: z.string(), team: z.string(), score: z.string(), level: z.int().default(1) })";
  project = await playersProject(players(14), byTeam, {
    "models/player.ts": playersModule(byTeam, withLevel),
  });
  await withDatabase(project, async (kv) => {
    for (const row of players(2)) await kv.set(["players", row.id], { ...row, level: 1 });
  });
  const { stdout, exitCode } = await project.run(["migrate", "run", "--dry-run"]);
  expect(stdout).toContain(
    'players  12 of 14 rows would change, none would fail\nThe changes in the first of these rows:\n  "00002"\n    - {}\n    + { level: 1 }\n',
  );
  expect(exitCode).toBe(0);
  const json = await project.run(["migrate", "run", "--dry-run", "--json"]);
  expect(JSON.parse(json.stdout).result.previews).toMatchObject([
    { rowCount: 14, changedCount: 12 },
  ]);
});

describe("a plan in whose way rows are", () => {
  it("names the list of those that have failed, and does not call for a run alone", async () => {
    await changingProject(badRow);
    await project.run(["migrate", "run", "--accept-failures"]);
    const { stdout, exitCode } = await project.run(["migrate", "plan"]);
    expect(stdout).toContain(
      [
        "players  1 row could not be changed. To list them:\n  npx keywright migrate status --failed players",
        "Correct the migration or the rows, then:\n  npx keywright migrate resume\n",
      ].join("\n"),
    );
    expect(stdout).not.toContain("To run the plan");
    expect(exitCode).toBe(3);
    expect((await project.run(["migrate", "plan", "--json"])).exitCode).toBe(3);
    await withDatabase(project, (kv) => kv.delete(["players", "x"]));
    expect((await project.run(["migrate", "plan"])).stdout).toContain("To run the plan:");
  });

  it("names the list of duplicates, and calls for a run only for other steps", async () => {
    const byScore = 'byScore: { key: "score", unique: true }';
    const rows = players(4).map((row) => ({ ...row, score: "1" }));
    project = await playersProject(rows, `{ byTeam: { key: "team" }, ${byScore} }`);
    await project.run(["migrate", "run"]);
    const list =
      "players.byScore is not readable, because rows share values. To list them:\n  npx keywright migrate status --duplicates players.byScore\nChange or delete all but one";
    const waiting = await project.run(["migrate", "plan"]);
    expect(waiting.stdout).toContain(list);
    expect(waiting.stdout).not.toContain("To run the plan");
    expect(waiting.exitCode).toBe(3);
    const more = `{ byTeam: { key: "team" }, ${byScore}, byTeams: { key: "team" } }`;
    await project.write({ "models/player.ts": playersModule(more) });
    const { stdout } = await project.run(["migrate", "plan"]);
    expect(stdout).toContain(list);
    expect(stdout).toContain("\nTo run the plan:\n  npx keywright migrate run\n");
  });
});

it("names rows that share a value of a new unique index before the index is built", async () => {
  const indexes = '{ byTeam: { key: "team" }, byScore: { key: "score", unique: true } }';
  project = await playersProject(
    [
      { id: "a", team: "red", score: "secret" },
      { id: "b", team: "red", score: "secret" },
      { id: "c", team: "red", score: "other" },
    ],
    indexes,
  );
  const before = await contents(project);
  for (const [args, exitCode] of [
    [["plan"], 3],
    [["run", "--dry-run"], 1],
  ] as const) {
    const shown = await project.run(["migrate", ...args]);
    expect(shown).toMatchObject({ exitCode, stderr: "" });
    expect(shown.stdout).toContain(
      'players  byScore is unique, but 1 row has a value that another row has, for example:\n  rows "a", "b"\n',
    );
    expect(shown.stdout).not.toContain("secret");
    const json = await project.run(["migrate", ...args, "--json"]);
    expect(JSON.parse(json.stdout).result).toMatchObject({
      duplicates: [{ index: "byScore", duplicateCount: 1, examples: [["a", "b"]] }],
    });
  }
  expect(await contents(project)).toEqual(before);
});
