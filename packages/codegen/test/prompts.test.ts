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
  it.each([0, 1])("gives up init, behind %i answers", async (answers) => {
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
  const { exitCode, stderr } = await runAnswering(project, ["init", "app"], ["\r", "\r", "\r"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(await project.read("app/keywright.config.ts")).toContain('openKv("data/app")');
});
