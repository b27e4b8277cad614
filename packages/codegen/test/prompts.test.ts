import { afterEach, describe, expect, it } from "vitest";
import { contents, players, playersProject } from "./players-project.js";
import { createProject, type Project } from "./project.js";
import { runAnswering } from "./run-answering.js";

let project: Project;

afterEach(() => project.remove());

const ctrlC = "\x03";
const ctrlD = "\x04";
const givingUp = [
  { name: "Ctrl-C", keys: [ctrlC] },
  { name: "Ctrl-D", keys: [ctrlD] },
  { name: "the end of the input", keys: [] },
];

describe.each(givingUp)("$name at a question", ({ keys }) => {
  it.each([0, 1, 2, 3, 4])("gives up init, behind %i answers", async (answers) => {
    project = await createProject({});
    const all = [...Array.from({ length: answers }, () => "\r"), ...keys];
    const { exitCode, stderr, unused } = await runAnswering(project, ["init", "app"], all);
    expect({ exitCode, stderr, unused }).toEqual({
      exitCode: 1,
      stderr: "Cancelled. Nothing was written.\n",
      unused: [],
    });
  });

  it("is no to the steps of a migration", async () => {
    project = await playersProject(players(1), "{}");
    const before = await contents(project);
    const { exitCode, shown } = await runAnswering(project, ["migrate", "run"], keys);
    expect(shown).toContain("Nothing was changed.");
    expect(exitCode).toBe(3);
    expect(await contents(project)).toEqual(before);
  });
});

it("init takes what is proposed where each question is answered with Enter", async () => {
  project = await createProject({});
  const { exitCode, stderr } = await runAnswering(
    project,
    ["init", "app"],
    ["\r", "\r", "\r", "\r", "\r"],
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(await project.read("app/keywright.config.ts")).toContain('openKv("data/app")');
});

const down = "\x1b[B";

it.each([
  { answer: "\r", path: "data/app.sqlite" },
  { answer: "rows/all.db\r", path: "rows/all.db" },
])("init asks which SQLite file contains the database: $path", async ({ answer, path }) => {
  project = await createProject({});
  const keys = ["\r", "\r", down + "\r", answer, "\r"];
  const { exitCode, stderr, unused } = await runAnswering(project, ["init", "app"], keys);
  expect({ exitCode, stderr, unused }).toEqual({ exitCode: 0, stderr: "", unused: [] });
  expect(await project.read("app/keywright.config.ts")).toContain(
    `sqliteEngine({ path: "${path}" })`,
  );
});

it("init asks if it should add instructions for coding agents, and adds none by default", async () => {
  project = await createProject({});
  const keys = ["\r", "\r", "\r", "\r"];
  await runAnswering(project, ["init", "without"], [...keys, "\r"]);
  const yes = await runAnswering(project, ["init", "with"], [...keys, "y"]);
  expect(yes).toMatchObject({ exitCode: 0, unused: [] });
  const skill = ".agents/skills/keywright/SKILL.md";
  await expect(project.read(`without/${skill}`)).rejects.toThrow("ENOENT");
  expect(await project.read(`with/${skill}`)).toMatch(/^---\nname: keywright\n/);
});

it("init --skill adds only the instructions to a project that is set up, and replaces none", async () => {
  project = await createProject({ "keywright.config.ts": "", ".claude/settings.json": "{}" });
  const skill = ".claude/skills/keywright/SKILL.md";
  const added = await project.run(["init", "--skill"]);
  expect(added).toMatchObject({ exitCode: 0, stdout: `created ${skill}\n`, stderr: "" });
  expect(await project.read(skill)).toMatch(/^---\nname: keywright\n/);
  await project.write({ [skill]: "ours\n" });
  expect((await project.run(["init", "--skill"])).stdout).toContain("already has the instructions");
  expect(await project.read(skill)).toBe("ours\n");
  expect((await project.run(["init", "--yes", "--skill", "--esm"])).stderr).toContain(
    "KW_PROJECT_CONFIGURED",
  );
});
