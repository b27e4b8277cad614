import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isKeywrightError } from "../../src/errors/keywright-error.js";
import type { EmbeddedKv } from "../../src/index.js";
import { openKv } from "../../src/kv/open-kv.js";
import { makeFolder, removeFolder } from "../temporary-folder.js";

const program = fileURLToPath(new URL("../consume-until-killed.mjs", import.meta.url));
const log = { keep: "1 day" } as const;
const kills = 12;

let folder: string;
let kv: EmbeddedKv;
const children = new Map<number, ChildProcess>();

beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(async () => {
  for (const child of children.values()) await killed(child);
  children.clear();
  await kv.close();
  await removeFolder(folder);
});

/** Starts a process that consumes, and again if it ends by itself because the owner was killed. */
function start(): void {
  const child = fork(program, [folder], { execArgv: [] });
  children.set(child.pid!, child);
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** Calls until the database answers: an owner that was killed is replaced by another process. */
async function answered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isKeywrightError(error) || !error.retryable) throw error;
      await sleep(5);
    }
  }
}

async function holder(): Promise<number | undefined> {
  const [consumer] = await answered(() => kv.consumers());
  return consumer?.holder?.pid;
}

/** Waits for a process that has the consumer and lives, and kills it. */
async function killHolder(): Promise<void> {
  for (;;) {
    const child = children.get((await holder()) ?? 0);
    if (child !== undefined && child.exitCode === null) {
      await killed(child);
      children.delete(child.pid!);
      return;
    }
    await sleep(5);
  }
}

async function writeUntil(isOver: () => boolean): Promise<number> {
  let n = 0;
  for (; !isOver(); n++) {
    const key = ["in", n];
    await answered(() => kv.atomic().check({ key, versionstamp: null }).set(key, n).commit());
    // The processes that are killed should not be far behind.
    await sleep(2);
  }
  return n;
}

async function assertAllHandledOnce(count: number): Promise<void> {
  while ((await answered(() => kv.get<number>(["count"]))).value !== count) await sleep(10);
  const written: unknown[] = [];
  for await (const { changes } of kv.changes({ prefix: ["in"], live: false }))
    for (const { key } of changes) written.push(key[1]);
  const handled: unknown[] = [];
  for await (const { value } of kv.list({ prefix: ["out"] })) handled.push(value);
  expect(handled).toEqual(written);
  expect(written).toEqual(Array.from({ length: count }, (_, n) => n));
}

it("lose nothing and repeat nothing when their processes are killed", async () => {
  kv = await openKv(folder, { log });
  start();
  start();
  let isOver = false;
  const writing = writeUntil(() => isOver);
  for (let n = 0; n < kills; n++) {
    await killHolder();
    start();
  }
  isOver = true;
  await assertAllHandledOnce(await writing);
});

it("continue when the process is killed that owns the folder", async () => {
  start();
  let opened: EmbeddedKv | undefined;
  while (opened?.attached === undefined) {
    await opened?.close();
    await sleep(20);
    opened = await openKv(folder);
  }
  kv = opened;
  let isOver = false;
  const writing = writeUntil(() => isOver);
  for (let n = 0; n < kills / 2; n++) {
    start();
    await killHolder();
  }
  isOver = true;
  start();
  await assertAllHandledOnce(await writing);
});
