import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const program = fileURLToPath(new URL("../contend.mjs", import.meta.url));

interface Report {
  /** How many calls were made, and the errors of the others. */
  readonly made: number;
  readonly failures: readonly string[];
  /** The number in the row after all calls of the process. */
  readonly n: number;
}

let folder: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-turns-"));
});
afterEach(async () => {
  // The owner is the last one to end.
  for (const child of children.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Starts a process with clients that each make a number of calls, or calls without end. */
async function start(clients: number, calls: number): Promise<ChildProcess> {
  const args = [join(folder, "data"), String(clients), String(calls)];
  const child = fork(program, args, { execArgv: [] });
  children.push(child);
  const [{ isAttached }] = (await once(child, "message")) as [{ isAttached: boolean }];
  expect(isAttached).toBe(children.length > 1);
  return child;
}

async function reportOf(child: ChildProcess): Promise<Report> {
  child.send("begin");
  return ((await once(child, "message")) as [Report])[0];
}

it("no call of an attached process fails, although the owner changes the same row without end", async () => {
  const owner = await start(16, 0);
  const attached = [await start(8, 10), await start(8, 10), await start(1, 20)];
  owner.send("begin");
  const reports = await Promise.all(attached.map(reportOf));
  expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
  expect(reports.map(({ made }) => made)).toEqual([80, 80, 20]);
});

const onPosix = it.skipIf(process.platform === "win32");

onPosix(
  "no call fails, and none is lost, because another process is stopped or killed",
  async () => {
    const owner = await start(4, 20);
    const [stopped, killed, last] = [await start(8, 10), await start(8, 0), await start(4, 20)];
    killed.send("begin");
    const late = reportOf(stopped);
    stopped.kill("SIGSTOP");
    const reports = [reportOf(owner), reportOf(last)];
    killed.kill("SIGKILL");
    const early = await Promise.all(reports);
    stopped.kill("SIGCONT");
    const all = [...early, await late];
    expect(all.flatMap(({ failures }) => failures)).toEqual([]);
    expect(all.map(({ made }) => made)).toEqual([80, 80, 80]);
    expect((await late).n).toBeGreaterThanOrEqual(240);
  },
);
