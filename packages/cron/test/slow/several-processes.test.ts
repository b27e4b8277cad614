import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../run-until-killed.mjs", import.meta.url));
const lease = 700;

let folder: string;
const children = new Set<ChildProcess>();
/** When each process was killed, by its number. */
const killedAt = new Map<number, number>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-cron-"));
  killedAt.clear();
});
afterEach(async () => {
  for (const child of children) await kill(child);
  await rm(folder, { recursive: true, force: true });
});

function start(skew = 0): ChildProcess {
  const child = fork(program, [folder, `${lease}`, `${skew}`], { execArgv: [], stdio: "ignore" });
  children.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
  killedAt.set(child.pid!, Date.now());
}

/** An attempt at a tick. */
interface Attempt {
  readonly tick: number;
  readonly pid: number;
  readonly begin: number;
  readonly end: number;
}

async function attemptsOf(kv: Kv): Promise<Attempt[]> {
  const ends = new Map<string, number>();
  for await (const { key, value } of kv.list<{ end: number }>({ prefix: ["ended"] }))
    ends.set(key.slice(1).join(), value.end);
  const attempts: Attempt[] = [];
  for await (const { key, value } of kv.list<number>({ prefix: ["begun"] })) {
    const [tick, , pid] = key.slice(1) as number[];
    // An attempt without an end was killed, or its database was, and its handler has thrown.
    const end = ends.get(key.slice(1).join()) ?? Math.min(killedAt.get(pid!) ?? value, value);
    attempts.push({ tick: tick!, pid: pid!, begin: value, end });
  }
  return attempts.toSorted((a, b) => a.begin - b.begin);
}

/** Expects that each second from the first to the last was run once, and one after another. */
async function expectEachTickOnce(kv: Kv): Promise<Attempt[]> {
  const times: [number, bigint][] = [];
  for await (const { key, value } of kv.list<{ value: bigint }>({ prefix: ["times"] }))
    times.push([key[1] as number, value.value]);
  const first = times[0]![0];
  expect(times).toEqual(times.map((_, i) => [first + i * 1000, 1n]));
  const attempts = await attemptsOf(kv);
  for (const [i, { begin }] of attempts.entries())
    if (i > 0) expect(attempts[i - 1]!.end).toBeLessThanOrEqual(begin);
  return attempts;
}

/** Returns how many ticks have ended, or how many of them in one process. */
async function ticksOf(kv: Kv, pid?: number): Promise<number> {
  let count = 0;
  for await (const { key } of kv.list({ prefix: ["ended"] }))
    if (pid === undefined || key[3] === pid) count++;
  return count;
}

/** Waits until so many ticks have ended. */
async function waitForTicks(count: number, pid?: number): Promise<void> {
  await using kv = await openKv(folder);
  while ((await ticksOf(kv, pid).catch(() => 0)) < count) await sleep(50);
}

describe("several processes with a cron", { timeout: 180_000 }, () => {
  it("run each tick exactly once while they are killed", async () => {
    for (let i = 0; i < 3; i++) start();
    await waitForTicks(2);
    for (let i = 0; i < 12; i++) {
      await sleep(Math.random() * 1200);
      await kill([...children][Math.floor(Math.random() * 3)]!);
      start();
      for (const child of [...children])
        if (child.exitCode !== null) {
          children.delete(child);
          start();
        }
    }
    await waitForTicks(15);
    for (const child of [...children]) await kill(child);
    await using kv = await openKv(folder);
    const attempts = await expectEachTickOnce(kv);
    expect(new Set(attempts.map(({ pid }) => pid)).size).toBeGreaterThan(2);
  });

  it("run each tick once if their clocks differ, and take over from the one that is ahead", async () => {
    const behind = start(-1500);
    await waitForTicks(1, behind.pid);
    const ahead = start(1500);
    await waitForTicks(5, ahead.pid);
    await kill(ahead);
    // The one that is behind comes to the next ticks three seconds later.
    await using during = await openKv(folder);
    await waitForTicks((await ticksOf(during, behind.pid)) + 3, behind.pid);
    await during.close();
    for (const child of [...children]) await kill(child);
    await using kv = await openKv(folder);
    const attempts = await expectEachTickOnce(kv);
    expect(new Set(attempts.map(({ pid }) => pid)).size).toBe(2);
  });
});
