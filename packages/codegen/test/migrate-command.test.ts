import { migrationStatus } from "@keywright/orm";
import { afterEach, describe, expect, it } from "vitest";
import { run } from "../src/cli/run.js";
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
const dropByTeam = "players.byTeam: drop-index";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

/** What an index is in the database. */
async function indexState(index: string): Promise<string | undefined> {
  const { models } = await withProject(project.folder, undefined, ({ database }) =>
    migrationStatus(database),
  );
  return models[0]?.indexes[index]?.state;
}

describe("an index that is added", () => {
  it("is planned, built and readable", async () => {
    project = await playersProject(players(20), byTeamAndScore);
    const plan = await project.run(["migrate", "plan"]);
    expect(plan.stdout).toContain("backfill  build index byScore");
    expect(plan.stdout).toContain("npx keywright migrate run");
    expect(plan).toMatchObject({ exitCode: 0, stderr: "" });
    const done = await project.run(["migrate", "run"]);
    expect(done.stdout).toContain("players  byScore is readable\n\nDone.");
    expect(done.stderr).toContain("players byScore");
    expect(done.exitCode).toBe(0);
    expect(await indexState("byScore")).toBe("readable");
    expect((await contents(project, ["players_by_score"])).length).toBe(20);
    expect(await project.run(["migrate", "run"])).toEqual({
      exitCode: 0,
      stdout: "Nothing to migrate: the database matches the models.\n",
      stderr: "",
    });
    expect((await project.run(["migrate", "resume"])).stdout).toBe(
      "Nothing to resume: the database matches the models.\n",
    );
    expect((await project.run(["migrate", "rollback"])).stdout).toContain("Nothing to roll back");
  });

  it("is reported as JSON, alone on standard output", async () => {
    project = await playersProject(players(20), byTeamAndScore);
    const plan = await project.run(["migrate", "plan", "--json"]);
    expect(JSON.parse(plan.stdout).result).toMatchObject({
      isBreaking: false,
      steps: [{ id: "players.byScore: build-index", class: "backfill" }],
    });
    const status = await project.run(["migrate", "status", "--json"]);
    expect(JSON.parse(status.stdout).result).toMatchObject({
      runner: null,
      models: [{ model: "players", indexes: { byScore: { state: "absent" } } }],
      plan: { steps: [{ id: "players.byScore: build-index" }] },
    });
    const done = await project.run(["migrate", "run", "--json"]);
    expect(JSON.parse(done.stdout).result).toMatchObject({
      status: "done",
      indexes: [{ index: "byScore", state: "readable" }],
    });
    expect(done.exitCode).toBe(0);
  });
});

describe("a breaking step", () => {
  it("is refused without a terminal, and nothing is done", async () => {
    project = await playersProject(players(3), '{ byScore: { key: "score" } }');
    const before = await contents(project);
    expect((await project.run(["migrate", "plan"])).exitCode).toBe(3);
    for (const args of [[], ["--json"], ["--accept", "players.byScore: build-index"]]) {
      const refused = await project.run(["migrate", "run", ...args]);
      expect(refused.stdout).toContain(dropByTeam);
      expect(refused.exitCode).toBe(3);
    }
    expect(await contents(project)).toEqual(before);
  });

  it.each([{ args: ["--accept", dropByTeam] }, { args: ["--accept-all"] }])(
    "is done with $args",
    async ({ args }) => {
      project = await playersProject(players(3), "{}");
      const done = await project.run(["migrate", "run", ...args]);
      expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Done.") });
      expect(await contents(project, ["players_by_team"])).toEqual([]);
    },
  );

  it("that a rollback needs is done when it is accepted", async () => {
    project = await playersProject(players(3), byTeamAndScore);
    expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
    await project.write({ "models/player.ts": playersModule(byTeam) });
    const refused = await project.run(["migrate", "rollback"]);
    expect(refused.stdout).toContain('"players.byScore: drop-index"');
    expect(refused.exitCode).toBe(3);
    expect((await contents(project, ["players_by_score"])).length).toBe(3);
    expect((await project.run(["migrate", "rollback", "--accept-all"])).exitCode).toBe(0);
    expect(await contents(project, ["players_by_score"])).toEqual([]);
  });
});

it("a rollback asks for a word also where no step is breaking", async () => {
  project = await playersProject(players(3), byTeamAndScore);
  const refused = await project.run(["migrate", "rollback"]);
  expect(refused.stdout).toContain("--accept-all");
  expect(refused.exitCode).toBe(3);
  expect(await contents(project, ["players_by_score"])).toEqual([]);
});

it("rows with one value of a unique index are listed, with what to do", async () => {
  const rows = players(30).map((row, i) => ({ ...row, score: String(i % 12) }));
  project = await playersProject(
    rows,
    '{ byTeam: { key: "team" }, byScore: { key: "score", unique: true } }',
  );
  const found = await project.run(["migrate", "run"]);
  expect(found.stdout).toContain('"0"  in rows "00000", "00012", "00024"');
  expect(found.stdout).toContain("18 rows have a value that is already taken");
  expect(found.stdout).toContain("npx keywright migrate status --duplicates players.byScore");
  expect(found.exitCode).toBe(1);
  const listed = await project.run(["migrate", "status", "--duplicates", "players.byScore"]);
  expect(listed.stdout.trim().split("\n").length).toBe(12);
  expect(listed.exitCode).toBe(0);
  const json = await project.run([
    "migrate",
    "status",
    "--duplicates",
    "players.byScore",
    "--json",
  ]);
  expect(JSON.parse(json.stdout).result).toHaveLength(12);
  const none = await project.run(["migrate", "status", "--failed", "players", "--json"]);
  expect(JSON.parse(none.stdout).result).toEqual([]);
  const unknown = await project.run(["migrate", "status", "--duplicates", "players.byName"]);
  expect(unknown.stderr).toContain("no unique index players.byName: choose from players.byScore");
  expect(unknown.exitCode).toBe(2);
});

describe("a change of rows", () => {
  const migration = `import { defineMigration } from "@keywright/orm";
import * as z from "zod";
import { Player } from "./models/player.js";

export const scores = defineMigration({
  model: Player,
  from: z.object({ id: z.string(), team: z.string(), score: z.string() }),
  to: z.object({ id: z.string(), team: z.string(), score: z.int() }),
  up: (row) => ({ ...row, score: Number(row.score) }),
  down: (row) => ({ ...row, score: String(row.score) }),
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

  it("is blocked without its migration", async () => {
    project = await playersProject(players(3), byTeam, {
      ...files,
      "keywright.config.ts": playersConfig(),
    });
    const before = await contents(project);
    expect((await project.run(["migrate", "plan"])).exitCode).toBe(3);
    const blocked = await project.run(["migrate", "run", "--accept-all"]);
    expect(blocked.stdout).toContain("First do what the blocked steps say.");
    expect(blocked.exitCode).toBe(3);
    expect(await contents(project)).toEqual(before);
  });

  it("tries all rows with --dry-run, shows what changes in the first, and writes nothing", async () => {
    const late = { id: "00700", team: "red", score: "nine" };
    project = await playersProject([...players(700), late], byTeam, files);
    const before = await contents(project);
    const shown = await project.run(["migrate", "run", "--dry-run"]);
    expect(shown.stdout).toContain("players  700 of 701 rows would change, 1 would fail\n");
    expect(shown.stdout).toContain(
      '  "00700"  ! It would not fit the schema. score: Invalid input',
    );
    expect(shown.stdout).toContain(`  "00001"\n    - { score: '1' }\n    + { score: 1 }\n`);
    expect(shown.stdout).not.toContain('"00005"');
    expect(shown.exitCode).toBe(1);
    const json = await project.run(["migrate", "run", "--dry-run", "--json"]);
    const [preview] = JSON.parse(json.stdout).result.previews;
    expect(preview).toMatchObject({
      model: "players",
      rowCount: 701,
      changedCount: 700,
      failedCount: 1,
    });
    expect(preview.rows).toHaveLength(5);
    expect(preview.failed).toMatchObject([{ id: "00700", before: late }]);
    expect(await contents(project)).toEqual(before);
    await withDatabase(project, (kv) => kv.delete(["players", late.id]));
    const good = await project.run(["migrate", "run", "--dry-run"]);
    expect(good.stdout).toContain("players  700 of 700 rows would change, none would fail\n");
    expect(good.exitCode).toBe(0);
  });

  it("lists rows that fail, continues when they are corrected, and goes back by `down`", async () => {
    project = await playersProject(
      [...players(2), { id: "x", team: "red", score: "nine" }],
      byTeam,
      files,
    );
    const failed = await project.run(["migrate", "run", "--accept-failures"]);
    expect(failed.stdout).toMatch(
      /players {2}these rows could not be changed.*\n {2}"x" {2}.* not fit the schema/,
    );
    expect(failed.exitCode).toBe(1);
    const listed = await project.run(["migrate", "status", "--failed", "players"]);
    expect(listed.stdout).toMatch(/^"x" {2}.* not fit the schema.*\n$/);
    expect((await project.run(["migrate", "status"])).stdout).toMatch(
      /rows +changing .*1 row failed/,
    );
    await withDatabase(project, (kv) => kv.delete(["players", "x"]));
    expect((await project.run(["migrate", "resume"])).exitCode).toBe(0);
    expect(await rowOf("00001")).toMatchObject({ score: 1 });

    await project.write({ "models/player.ts": playersModule(byTeam) });
    const back = await project.run(["migrate", "rollback", "--accept-all"]);
    expect(back).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Done.") });
    expect(await rowOf("00001")).toMatchObject({ score: "1" });
  });
});

it("an index whose functions only have another code keeps its entries with --same-functions", async () => {
  const byTeamWith = (normalize: string) => `{ byTeam: { key: "team", normalize: ${normalize} } }`;
  project = await playersProject(players(3), byTeamWith("(team) => team.slice(0, 1)"));
  await project.run(["migrate", "run"]);
  const entries = await contents(project, ["players_by_team"]);
  await project.write({
    "models/player.ts": playersModule(byTeamWith("(team) => team.charAt(0)")),
  });
  const refused = await project.run(["migrate", "plan"]);
  expect(refused.stdout).toContain("--same-functions");
  expect(refused.stdout.replaceAll(/\s+/g, " ")).toContain("is a => a.charAt(0)");
  const kept = await project.run(["migrate", "run", "--same-functions", "players.byTeam"]);
  expect(kept.stdout).toBe(
    "Kept the entries of players.byTeam: its functions return the same.\nNothing to migrate: the database matches the models.\n",
  );
  expect(await contents(project, ["players_by_team"])).toEqual(entries);
});

it("a run says if another one is active, or waits for its end", async () => {
  project = await playersProject(players(1500), byTeamAndScore);
  const first = startRun(["migrate", "run", "--rows-per-second", "1000", "--no-verify"]);
  await first.isAtWork;
  const second = await project.run(["migrate", "run", "--no-wait"]);
  expect(second.stdout).toMatch(/Nothing was changed\. Run \w+ on .+ is active\./);
  expect(second.exitCode).toBe(1);
  const third = await project.run(["migrate", "run"]);
  expect(third.stderr).toMatch(/^Run \w+ on .+ is active\. Waiting for its end\.\n/);
  expect(third.exitCode).toBe(0);
  expect(await first.exitCode).toBe(0);
});

it.each([
  {
    args: ["migrate", "run", "--rows-per-second", "0"],
    message: "It must be a positive number.",
  },
  { args: ["migrate", "run", "--acept-all"], message: "Did you mean --accept-all?" },
  { args: ["migrate", "rum"], message: "Did you mean run?" },
  { args: ["migrate"], message: "Usage: keywright migrate" },
])("wrong usage of $args", async ({ args, message }) => {
  project = await playersProject([], byTeam);
  const { exitCode, stderr } = await project.run(args);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

async function rowOf(id: string): Promise<unknown> {
  return await withDatabase(project, async (kv) => (await kv.get(["players", id])).value);
}

/** A run in this process, and when it has begun to write. */
function startRun(args: readonly string[]): {
  readonly isAtWork: Promise<void>;
  readonly exitCode: Promise<number>;
} {
  let begin: () => void;
  const isAtWork = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const stream = (write: (text: string) => void) => ({ write }) as unknown as NodeJS.WriteStream;
  const exitCode = run(args, {
    folder: project.folder,
    enter: () => undefined,
    stdin: {} as NodeJS.ReadStream,
    stdout: stream(() => undefined),
    stderr: stream(() => begin()),
  });
  return { isAtWork, exitCode };
}

it("the plan and the status write nothing, not even for a model that is new", async () => {
  project = await playersProject(players(3), byTeam);
  await project.write({
    "models/team.ts": `import { defineModel } from "@keywright/orm";
import * as z from "zod";
export const Team = defineModel({ name: "teams", schema: z.object({ id: z.string() }), primaryKey: "id" });
`,
  });
  const before = await contents(project, []);
  for (const command of ["plan", "status"])
    expect(await project.run(["migrate", command])).toMatchObject({ exitCode: 0 });
  expect(await contents(project, [])).toEqual(before);
});
