import { createDatabase, defineModel, type MigrationProgress, migrate } from "@keywright/orm";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { withProject } from "../src/project/open-project.js";
import {
  contents,
  players,
  playersConfig,
  playersModule,
  playersProject,
  withDatabase,
} from "./players-project.js";
import type { Project } from "./project.js";

const byTeam = '{ byTeam: { key: "team" } }';
const byTeamAndScore = '{ byTeam: { key: "team" }, byScore: { key: "score" } }';
const strict =
  '{ byTeam: { key: "team" }, byScore: { key: "score", normalize: (score) => { if (score < 13) throw new Error("too low"); return score; } } }';
const dropByTeam = "players.byTeam: drop-index";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

describe("an index whose function throws for some rows", () => {
  it("is not complete, and the rows are named", async () => {
    project = await playersProject(players(20), strict);
    const run = await project.run(["migrate", "run"]);
    expect(run.stdout).toContain(
      [
        "players  byScore is readable",
        "",
        "players  queries that use an index do not find these rows:",
        '  row "00000"  cannot be in byScore: score: too low',
      ].join("\n"),
    );
    expect(run.stdout).toContain("  … 8 more\n\nNot complete. The indexes are readable");
    expect(run.stdout).not.toContain("matches the models");
    expect(run.exitCode).toBe(1);
  });

  it("is told of by the status while it is built", async () => {
    project = await playersProject(players(1000), strict);
    await withProject(project.folder, undefined, async ({ database }) => {
      const stop = new AbortController();
      const onProgress = ({ phase, done }: MigrationProgress) => {
        if (phase === "building" && done > 0) stop.abort();
      };
      await migrate(database, { signal: stop.signal, onProgress });
    });
    const { stdout } = await project.run(["migrate", "status"]);
    expect(stdout).toContain("rows done, 13 rows cannot be indexed\n");
    expect(stdout).toContain('  row "00000"  cannot be in byScore: score: too low\n');
    expect(stdout).toContain("  … 8 more\n");
  });

  it("is told of in JSON", async () => {
    project = await playersProject(players(200), strict);
    const run = await project.run(["migrate", "run", "--json"]);
    const result = JSON.parse(run.stdout).result;
    expect(result).toMatchObject({ status: "unindexed-rows", unindexedCount: 13 });
    expect(result.unindexed).toHaveLength(13);
    expect(run.exitCode).toBe(1);
  });
});

describe("an index of several models whose function throws for some rows", () => {
  const teams = `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  indexes: { byUpper: { key: "id", normalize: () => { throw new Error("no team"); } } },
});
`;

  async function teamsProject(rows = players(20), indexes = strict): Promise<void> {
    project = await playersProject(rows, indexes, { "models/team.ts": teams });
    await withDatabase(project, async (kv) => {
      const schema = z.object({ id: z.string() });
      const team = defineModel({ name: "teams", schema, primaryKey: "id" });
      const db = await createDatabase({ kv, models: { teams: team } });
      for (let i = 0; i < 6; i++) await db.teams.create({ data: { id: `t${i}` } });
    });
  }

  it("lists the first rows of each model beneath its name", async () => {
    await teamsProject();
    const { stdout } = await project.run(["migrate", "run"]);
    expect(stdout).toContain(
      [
        '  row "00004"  cannot be in byScore: score: too low',
        "  … 8 more",
        "",
        "teams  queries that use an index do not find these rows:",
        '  row "t0"  cannot be in byUpper: id: no team',
      ].join("\n"),
    );
    expect(stdout).toContain(
      '"t4"  cannot be in byUpper: id: no team\n  … 1 more\n\nNot complete.',
    );
    expect(stdout).toContain(
      "If the plan does not contain that change:\n  npx keywright verify --repair",
    );
  });

  it("says how many more there are than a run lists", async () => {
    await teamsProject(players(120), strict.replace("score < 13", "true"));
    const { stdout } = await project.run(["migrate", "run"]);
    expect(stdout).toContain("  … 95 more\n\nteams  queries");
    expect(stdout).toContain("  … 1 more\n\n20 more rows are not listed.\n\nNot complete.");
  });

  it.each([
    { stop: "while another model is built", isLast: false },
    { stop: "behind the last index", isLast: true },
  ])("is told of by a resumption where the run was stopped $stop", async ({ isLast }) => {
    await teamsProject();
    await withProject(project.folder, undefined, async ({ database }) => {
      const stop = new AbortController();
      const onProgress = ({ model, phase, done, total }: MigrationProgress) => {
        if (model !== "teams") return;
        if (isLast ? phase === "verifying" && done === total : phase === "building") {
          stop.abort();
        }
      };
      const { status } = await migrate(database, { signal: stop.signal, onProgress });
      expect(status).toBe("stopped");
    });
    const status = await project.run(["migrate", "status"]);
    expect(status.stdout).toMatch(/byScore +readable +13 rows cannot be indexed\n/);
    const resumed = await project.run(["migrate", "resume"]);
    expect(resumed.stdout.includes("build index")).toBe(!isLast);
    expect(resumed.stdout).not.toContain("Nothing");
    expect(resumed.stdout).toContain('row "00000"  cannot be in byScore: score: too low\n');
    expect(resumed.stdout).toContain("Not complete. The indexes are readable");
    expect(resumed.exitCode).toBe(1);
    expect(await project.run(["migrate", "resume"])).toMatchObject({
      stdout: "Nothing to resume: the database matches the models.\n",
      exitCode: 0,
    });
  });
});

describe("an id behind --accept", () => {
  it.each(["run", "rollback"])("that no step has is wrong usage of %s", async (command) => {
    project = await playersProject(players(3), "{}");
    const before = await contents(project);
    for (const option of [[], ["--dry-run"]]) {
      const args = ["migrate", command, "--accept", "players.byTem: drop-index", ...option];
      const { exitCode, stderr } = await project.run(args);
      expect(stderr).toContain(
        'there is no step "players.byTem: drop-index": choose from\n  "players.byTeam: drop-index"',
      );
      expect(exitCode).toBe(2);
    }
    expect(await contents(project)).toEqual(before);
  });

  it("may be of a step that is done, where all is, and where a run is gone on with", async () => {
    project = await playersProject(players(3), "{}");
    const run = ["migrate", "run", "--accept", dropByTeam];
    expect((await project.run(run)).exitCode).toBe(0);
    expect((await project.run(run)).stdout).toBe(
      "Nothing to migrate: the database matches the models.\n",
    );
    await project.write({ "models/player.ts": playersModule('{ byScore: { key: "score" } }') });
    expect((await project.run(run)).exitCode).toBe(2);
    expect((await project.run(["migrate", "resume", "--accept", dropByTeam])).exitCode).toBe(0);
  });

  it("is no word for a rollback in which no step is breaking", async () => {
    project = await playersProject(players(3), byTeamAndScore);
    const args = ["migrate", "rollback", "--accept", "players.byScore: build-index"];
    expect(await project.run(args)).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining(
        "There is no terminal for a question. To confirm the plan, use --accept-all.",
      ),
    });
    expect(await contents(project, ["players_by_score"])).toEqual([]);
  });

  it("is shown with its step by every plan", async () => {
    project = await playersProject(players(3), "{}");
    for (const args of [["plan"], ["run", "--dry-run"], ["run"]]) {
      const { stdout } = await project.run(["migrate", ...args]);
      expect(stdout).toContain(`To accept it: "${dropByTeam}"\n`);
    }
  });
});

it("a rollback that lacks the `down` of a migration says so", async () => {
  const toNumbers = `import { defineMigration } from "@keywright/orm";
import * as z from "zod";
import { Player } from "./models/player.js";

export const scores = defineMigration({
  model: Player,
  name: "scores are numbers",
  from: z.object({ id: z.string(), team: z.string(), score: z.string() }),
  to: z.object({ id: z.string(), team: z.string(), score: z.int() }),
  up: (row) => ({ ...row, score: Number(row.score) }),
});
`;
  const numbers = "z.object({ id: z.string(), team: z.string(), score: z.int() })";
  project = await playersProject(players(3), byTeam, {
    "models/player.ts": playersModule(byTeam, numbers),
    "migration.ts": toNumbers,
    "keywright.config.ts": playersConfig(
      "migrations: [scores],",
      'import { scores } from "./migration.js";',
    ),
  });
  const run = await project.run(["migrate", "run"]);
  expect(run.stdout).toContain("by scores are numbers");
  expect(run.exitCode).toBe(0);
  await project.write({ "models/player.ts": playersModule(byTeam) });
  const back = await project.run(["migrate", "rollback", "--accept-all"]);
  expect(back.stdout.replace(/\s+/g, " ")).toContain(
    'The migration "scores are numbers" leads from the model\'s schema to the stored rows, and has no down. Add one.',
  );
  expect(back.stdout).not.toContain("defineMigration");
  expect(back.exitCode).toBe(3);
});

it("a model that is in the database only is named by the plan", async () => {
  project = await playersProject(players(3), byTeam);
  await withDatabase(project, async (kv) => {
    const schema = z.object({ id: z.string() });
    const comments = defineModel({ name: "comments", schema, primaryKey: "id" });
    const db = await createDatabase({ kv, models: { comments } });
    await db.comments.create({ data: { id: "1" } });
  });
  const plan = await project.run(["migrate", "plan"]);
  expect(plan.stdout).toBe(
    "Nothing to migrate.\nOnly the database has the model comments: its rows stay.\n",
  );
  expect(plan.exitCode).toBe(0);
  const json = await project.run(["migrate", "plan", "--json"]);
  expect(JSON.parse(json.stdout).result).toMatchObject({
    databaseOnly: [{ model: "comments", prefix: "comments" }],
  });
});
