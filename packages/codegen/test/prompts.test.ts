import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { run } from "../src/cli/run.js";
import { contents, players, playersProject } from "./players-project.js";
import { createProject, type Project } from "./project.js";

let project: Project;

afterEach(() => project.remove());

const ctrlC = "\x03";
const ctrlD = "\x04";
/** What each question begins with. */
const hiddenCursor = "\x1b[?25l";

/**
 * Runs the command in a terminal, where each question is answered with the next of these keys.
 * Behind them the input ends.
 */
async function runAnswering(args: readonly string[], keys: readonly string[]) {
  const stream = () => Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const [stdin, stdout] = [stream() as unknown as NodeJS.ReadStream, stream()];
  const remaining = [...keys];
  let [shown, stderr] = ["", ""];
  stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (!text.includes(hiddenCursor)) return;
    const key = remaining.shift();
    setImmediate(() => (key === undefined ? stdin.push(null) : stdin.push(key)));
  });
  const exitCode = await run(args, {
    folder: project.folder,
    enter: () => undefined,
    stdin,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: {
      write: (text: string) => {
        stderr += text;
      },
    } as unknown as NodeJS.WriteStream,
  });
  return { exitCode, stderr, shown, unused: remaining };
}

const givingUp = [
  { name: "Ctrl-C", keys: [ctrlC] },
  { name: "Ctrl-D", keys: [ctrlD] },
  { name: "the end of the input", keys: [] },
];

describe.each(givingUp)("$name at a question", ({ keys }) => {
  it.each([0, 1])("gives up init, behind %i answers", async (answers) => {
    project = await createProject({});
    const all = [...Array.from({ length: answers }, () => "\r"), ...keys];
    const { exitCode, stderr, unused } = await runAnswering(["init", "app"], all);
    expect({ exitCode, stderr, unused }).toEqual({
      exitCode: 1,
      stderr: "Cancelled. Nothing was written.\n",
      unused: [],
    });
  });

  it("is no to the steps of a migration", async () => {
    project = await playersProject(players(1), "{}");
    const before = await contents(project);
    const { exitCode, shown } = await runAnswering(["migrate", "run"], keys);
    expect(shown).toContain("Nothing was changed.");
    expect(exitCode).toBe(3);
    expect(await contents(project)).toEqual(before);
  });
});

it("init takes what is proposed where each question is answered with Enter", async () => {
  project = await createProject({});
  const { exitCode, stderr } = await runAnswering(["init", "app"], ["\r", "\r", "\r"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(await project.read("app/keywright.config.ts")).toContain('openKv("data/app")');
});
