import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineJob, defineModel } from "../../src/index.js";
import { verifyIndexes } from "../../src/migrate.js";

const program = fileURLToPath(new URL("../work.mjs", import.meta.url));

const Run = defineModel({
  name: "runs",
  schema: z.object({ id: z.ulid(), n: z.int(), pid: z.int() }),
  primaryKey: "id",
  indexes: { byN: { key: "n", count: true } },
});
const Step = defineJob({ name: "step", schema: z.object({ n: z.int() }) });

interface Told {
  readonly began?: number;
  readonly attempt?: number;
  readonly failed?: number;
  readonly code?: string;
}

let folder: string;
let kv: EmbeddedKv;
const children = new Set<ChildProcess>();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-jobs-"));
  kv = await openKv(join(folder, "data"), { durability: "relaxed" });
});
afterEach(async () => {
  for (const child of children) await kill(child);
  children.clear();
  await kv.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function start(behaviour: string): Promise<{ child: ChildProcess; told: Told[] }> {
  const child = fork(program, [join(folder, "data"), behaviour], { execArgv: [] });
  children.add(child);
  const told: Told[] = [];
  child.on("message", (message: Told) => void told.push(message));
  const ended = new AbortController();
  child.once("exit", () => ended.abort());
  try {
    await once(child, "message", { signal: ended.signal });
  } catch {
    // A handler has ended the process before it was noticed.
    return await start(behaviour);
  }
  return { child, told };
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function kill(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

const openDatabase = () => createDatabase({ kv, models: { runs: Run }, jobs: { step: Step } });

it("no job is lost and none commits twice, while processes that run them are killed", async () => {
  const db = await openDatabase();
  let count = 0;
  const enqueue = () =>
    db.jobs.step.enqueueMany(Array.from({ length: 100 }, () => ({ n: count++ })));
  const isDone = async () => {
    const { waiting, delayed, running } = await db.jobs.step.counts();
    return waiting + delayed + running === 0;
  };
  const workers = [await start("random"), await start("random"), await start("random")];
  for (let kills = 0; kills < 6; kills++) {
    const position = kills % workers.length;
    const { child, told } = workers[position]!;
    await enqueue();
    const before = told.length;
    const hasBegunAnother = async () => {
      // The others may have been faster.
      if (await isDone()) await enqueue();
      return told.length > before || hasEnded(child);
    };
    await expect.poll(hasBegunAnother).toBe(true);
    await kill(child);
    workers[position] = await start("random");
  }
  while (!(await isDone())) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const [position, { child }] of workers.entries())
      if (hasEnded(child)) workers[position] = await start("random");
  }
  expect(await db.jobs.step.counts()).toMatchObject({ failed: 0 });
  const runs = await db.runs.groupBy({ by: ["n"], count: true });
  expect(runs).toHaveLength(count);
  expect(runs.filter(({ count }) => count !== 1)).toEqual([]);
  expect(new Set(await pids(db)).size).toBeGreaterThan(1);
  expect((await verifyIndexes(db)).status).toBe("clean");
});

async function pids(db: Awaited<ReturnType<typeof openDatabase>>): Promise<number[]> {
  const all: number[] = [];
  for await (const { pid } of db.runs.scan()) all.push(pid);
  return all;
}

it.skipIf(process.platform === "win32")(
  "a process that stood still cannot commit with a job that another one has",
  async () => {
    const db = await openDatabase();
    const stopped = await start("held");
    await db.jobs.step.enqueue({ n: 1 });
    // A slow process may lose its lease, and begin the job again.
    const begun = expect.objectContaining({ began: 1 });
    await expect.poll(() => stopped.told).toContainEqual(begun);
    stopped.child.kill("SIGSTOP");
    const other = await start("fast");
    await expect.poll(() => other.told).toContainEqual(begun);
    await expect.poll(() => db.jobs.step.counts()).toMatchObject({ waiting: 0, running: 0 });
    stopped.child.kill("SIGCONT");
    stopped.child.send("commit");
    await expect.poll(() => stopped.told).toContainEqual({ failed: 1, code: "KW_JOB_LOST" });
    const { items } = await db.runs.findMany({ where: { n: 1 } });
    expect(items.map(({ pid }) => pid)).toEqual([other.child.pid]);
  },
);
