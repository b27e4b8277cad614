import { afterEach, describe, expect, it } from "vitest";
import {
  contents,
  players,
  playersModule,
  playersProject,
  withDatabase,
} from "./players-project.js";
import type { Project } from "./project.js";
import { runAnswering } from "./run-answering.js";

let project: Project;

afterEach(() => project.remove());

const teamModule = (name: string, settings = "") => `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const Team = defineModel({
  name: ${JSON.stringify(name)}, ${settings}
  schema: z.object({ id: z.string(), team: z.string(), score: z.string() }),
  primaryKey: "id",
  indexes: { byTeam: { key: "team" } },
});
`;

/** A project whose database has three players, and whose only model is another one. */
async function projectWithout(model = teamModule("teams")): Promise<void> {
  project = await playersProject(players(3), "{}");
  await project.write({ "models/player.ts": model });
}

const unlike = `import { defineModel } from "@keywright/orm";
import * as z from "zod";
export const Club = defineModel({ name: "clubs", schema: z.object({ code: z.int() }), primaryKey: "code" });
`;

const playerKeys = async () =>
  (
    await withDatabase(project, async (kv) => {
      const keys: string[] = [];
      for await (const { key } of kv.list({ prefix: [] })) keys.push(key.map(String).join("/"));
      return keys;
    })
  ).filter((key) => key.includes("players"));

describe("a model that the project no longer has", () => {
  it("is planned and removed if it is named, without a terminal", async () => {
    await projectWithout(unlike);
    const plain = await project.run(["migrate", "run"]);
    expect(plain).toMatchObject({ exitCode: 0 });
    expect((await playerKeys()).length).toBeGreaterThan(6);
    const plan = await project.run(["migrate", "plan", "--drop-model", "players"]);
    expect(plan.stdout).toContain("breaking  drop model");
    expect(plan.stdout).toContain("The model players is removed from the database with its rows.");
    expect(plan.exitCode).toBe(3);
    const dry = await project.run(["migrate", "run", "--drop-model", "players", "--dry-run"]);
    expect(dry).toMatchObject({ exitCode: 3, stderr: "" });
    expect((await playerKeys()).length).toBeGreaterThan(6);
    const done = await project.run(["migrate", "run", "--drop-model", "players"]);
    expect(done.stdout).toMatch(/players {2}removed, \d+ keys deleted\n\nDone\./);
    expect(done.exitCode).toBe(0);
    expect(await playerKeys()).toEqual([]);
    const again = await project.run(["migrate", "run", "--drop-model", "players"]);
    expect(again).toMatchObject({
      exitCode: 0,
      stdout:
        "Nothing to migrate: the database matches the models.\nThe database does not have the model players.\n",
    });
  });

  it("is reported as JSON", async () => {
    await projectWithout(unlike);
    const done = await project.run(["migrate", "run", "--drop-model", "players", "--json"]);
    expect(JSON.parse(done.stdout).result).toMatchObject({
      status: "done",
      dropped: [{ model: "players", prefix: "players" }],
    });
  });

  it.each([
    { key: "y", exitCode: 0, isRemoved: true },
    { key: "n", exitCode: 3, isRemoved: false },
  ])(
    "is asked about in a terminal, where the answer is $key",
    async ({ key, exitCode, isRemoved }) => {
      await projectWithout(unlike);
      const args = ["migrate", "run", "--drop-model", "players"];
      const answered = await runAnswering(project, args, [key]);
      expect(answered).toMatchObject({ exitCode, unused: [] });
      expect(answered.shown).toContain("1 step is breaking");
      expect((await playerKeys()).length === 0).toBe(isRemoved);
    },
  );

  it("cannot be dropped while the project has it", async () => {
    project = await playersProject(players(1), "{}");
    const refused = await project.run(["migrate", "run", "--drop-model", "players"]);
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        '--drop-model: the program has the model "players"; remove it from models first',
      ),
    });
  });

  it("whose removal was interrupted is removed by the next run", async () => {
    await projectWithout(unlike);
    await withDatabase(project, async (kv) => {
      const key = ["__keywright", "catalog", "players"];
      const { value } = await kv.get<object>(key);
      await kv.set(key, { ...value, format: 0 });
    });
    const status = await project.run(["migrate", "status"]);
    expect(status.exitCode).toBe(0);
    expect(await project.run(["migrate", "resume"])).toMatchObject({ exitCode: 0 });
    expect(await playerKeys()).toEqual([]);
  });

  it("that is put back during its removal says what to do", async () => {
    project = await playersProject(players(1), "{}");
    await withDatabase(project, async (kv) => {
      const key = ["__keywright", "catalog", "players"];
      const { value } = await kv.get<object>(key);
      await kv.set(key, { ...value, format: 0 });
    });
    const refused = await project.run(["migrate", "run"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("the model was dropped from the database");
    expect(refused.stderr).toContain("Remove the model from the project");
  });
});

describe("a model that seems to be renamed", () => {
  it("is asked about, and a yes changes nothing and says how to keep the rows", async () => {
    await projectWithout();
    expect((await project.run(["migrate", "plan"])).exitCode).toBe(0);
    const before = await contents(project, ["players"]);
    const yes = await runAnswering(project, ["migrate", "run"], ["y"]);
    expect(yes).toMatchObject({ exitCode: 3, unused: [] });
    expect(yes.shown).toContain("Was the model players renamed to teams?");
    expect(yes.shown).toContain('Give the model teams prefix: "players". Its rows then stay.');
    // Even if the model was named to be dropped.
    const dropping = await runAnswering(
      project,
      ["migrate", "run", "--drop-model", "players"],
      ["y"],
    );
    expect(dropping.shown).toContain("Was the model players renamed to teams?");
    expect(dropping.exitCode).toBe(3);
    expect(await contents(project, ["players"])).toEqual(before);
    await project.write({ "models/player.ts": teamModule("teams", 'prefix: "players",') });
    const renamed = await runAnswering(project, ["migrate", "run"], []);
    expect(renamed.shown).toContain("rename model");
    expect(renamed.exitCode).toBe(0);
    expect(await contents(project, ["players"])).toEqual(before);
  });

  it("is another one if the answer is no, and the rows stay", async () => {
    await projectWithout();
    const before = await contents(project, ["players"]);
    const no = await runAnswering(project, ["migrate", "run"], ["n"]);
    expect(no).toMatchObject({ exitCode: 0, unused: [] });
    expect(await contents(project, ["players"])).toEqual(before);
  });

  it("is only reported without a terminal", async () => {
    await projectWithout();
    expect(await project.run(["migrate", "run"])).toEqual({
      exitCode: 0,
      stdout:
        'Nothing to migrate: the database matches the models.\nOnly the database has the model players. If it was renamed: Give the model teams prefix: "players". Its rows then stay.\n',
      stderr: "",
    });
  });
});

describe("a part of a model that seems to be renamed", () => {
  it("is an index: a yes says how to keep its entries", async () => {
    project = await playersProject(players(3), '{ byClub: { key: "team" } }');
    const yes = await runAnswering(project, ["migrate", "run"], ["y"]);
    expect(yes.shown).toContain("Was the index byTeam of players renamed to byClub?");
    expect(yes.shown).toContain('prefix: "players_by_team"');
    expect(yes.exitCode).toBe(3);
    const before = await contents(project, ["players_by_team"]);
    const index = '{ byClub: { key: "team", prefix: "players_by_team" } }';
    await project.write({ "models/player.ts": playersModule(index) });
    expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
    expect(await contents(project, ["players_by_team"])).toEqual(before);
  });

  it("is an index: after a no, its removal is asked about", async () => {
    project = await playersProject(players(3), '{ byClub: { key: "team" } }');
    const no = await runAnswering(project, ["migrate", "run"], ["n", "y"]);
    expect(no).toMatchObject({ exitCode: 0, unused: [] });
    expect(await contents(project, ["players_by_team"])).toEqual([]);
    expect((await contents(project, ["players_by_club"])).length).toBe(3);
  });

  it("is a field: a yes says how to write the migration", async () => {
    const indexes = '{ byTeam: { key: "team" } }';
    const schema = "z.object({ id: z.string(), team: z.string(), points: z.string() })";
    project = await playersProject(players(3), indexes, {
      "models/player.ts": playersModule(indexes, schema),
    });
    const yes = await runAnswering(project, ["migrate", "run"], ["y"]);
    expect(yes.shown).toContain("Was the field score of players renamed to points?");
    const command = 'migrate new "score is points" --model players';
    expect(yes.shown).toContain(`npx keywright ${command}`);
    expect(yes.exitCode).toBe(3);
    const args = ["migrate", "new", "score is points", "--model", "players"];
    expect((await project.run(args)).exitCode).toBe(0);
    expect(await project.read("migrations/score-is-points.ts")).toContain("points: score");
  });

  it("is not asked about if its removal is accepted", async () => {
    project = await playersProject(players(3), '{ byClub: { key: "team" } }');
    const args = ["migrate", "run", "--accept", "players.byTeam: drop-index"];
    const accepted = await runAnswering(project, args, []);
    expect(accepted.exitCode).toBe(0);
    expect((await contents(project, ["players_by_club"])).length).toBe(3);
  });
});
