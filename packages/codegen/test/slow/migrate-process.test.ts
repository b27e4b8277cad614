import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { contents, players, playersProject, withDatabase } from "../players-project.js";
import type { Project } from "../project.js";

const command = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));

const byTeamAndScore = '{ byTeam: { key: "team" }, byScore: { key: "score" } }';

let project: Project;

afterEach(() => project.remove());

it("continues after Ctrl-C has stopped the run, and says how", async () => {
  project = await playersProject(players(2000), byTeamAndScore);
  const stopped = await interruptedRun(["migrate", "run", "--rows-per-second", "1000"]);
  expect(stopped.stderr).toContain("Stopping after the current batch.");
  expect(stopped.stdout).toContain("To continue:\n  npx keywright migrate resume");
  expect(stopped.exitCode).toBe(1);
  const written = (await contents(project, ["players_by_score"])).length;
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThan(2000);
  const status = await project.run(["migrate", "status"]);
  expect(status.stdout).toMatch(/byScore +write-only +[1-9][\d,]* of 2,000 rows done/);
  const resumed = await project.run(["migrate", "resume"]);
  expect(resumed.stdout).toContain("Done.");
  expect(resumed.exitCode).toBe(0);
  expect((await contents(project, ["players_by_score"])).length).toBe(2000);
});

it("works while a program runs, and says so", async () => {
  project = await playersProject(players(30), byTeamAndScore);
  const outcome = await withDatabase(project, () => project.spawn(["migrate", "run"]));
  const line = `Attached to process ${process.pid}, which has the database open.\n`;
  expect(outcome.stderr.startsWith(line)).toBe(true);
  expect(outcome).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Done.") });
});

it("a database that another process keeps to itself is one clear message, with what to do", async () => {
  project = await playersProject(players(1), byTeamAndScore);
  const outcome = await withDatabase(project, () => project.spawn(["migrate", "run"]), {
    attach: false,
  });
  expect(outcome.stderr).toMatch(
    /^error KW_DATABASE_LOCKED: The database at data is open in another process or thread\. Close it there/,
  );
  expect(outcome.stderr).not.toContain("  path:");
  expect(outcome.stderr).not.toContain("    at ");
  expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
});

/** Runs the real command, and sends it a Ctrl-C when some rows are done. */
async function interruptedRun(
  args: readonly string[],
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [command, ...args], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr, isInterrupted] = ["", "", false];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    if (isInterrupted || !/[1-9][\d,]* \/ 2,000 rows/.test(stderr)) return;
    isInterrupted = true;
    child.kill("SIGINT");
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { exitCode, stdout, stderr };
}
