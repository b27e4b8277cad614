import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { findFailedRows } from "../../src/migrate.js";
import { Crash, crashingKv } from "../faulty-kv.js";
import {
  beginTransform,
  contextOf,
  fillOld,
  Member,
  memberId,
  newMember,
  oldMember,
  openNew,
  openOld,
  runTransform,
} from "../transform-models.js";
import { expectIndexesToMatch } from "../verify-indexes.js";

async function storedRows(kv: Kv): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { value } of kv.list({ prefix: ["members"] })) rows.push(value);
  return rows;
}

/**
 * Runs a test on a database in memory with rows of the old program, to which the new one has begun
 * to change them.
 */
async function withBegun(
  count: number,
  nobodies: readonly number[],
  test: (kv: Kv) => Promise<void>,
): Promise<void> {
  const kv = await openKv();
  try {
    await fillOld(kv, count);
    const old = await openOld(kv);
    for (const i of nobodies) {
      await old.members.update({ where: { id: memberId(i) }, data: { name: "nobody" } });
    }
    await beginTransform(contextOf(await openNew(kv), "members"));
    await test(kv);
  } finally {
    await kv.close();
  }
}

/** What the old program finds by a changed field is what it would find in an array of the rows. */
async function expectMembersByVisits(kv: Kv): Promise<void> {
  const old = await openOld(kv);
  const stored = (await storedRows(kv)) as { id: string; visits: number }[];
  for (const visits of [0, 1, 6, 7]) {
    const where = { visits };
    const expected = stored.filter((row) => row.visits === visits);
    const reading = old.members.findMany({ where, take: 100 });
    // The old program cannot read a row that lacks the name.
    if (expected.every((row) => "name" in row)) expect((await reading).items).toEqual(expected);
    else await expect(reading).rejects.toMatchObject({ code: "KW_STALE_SCHEMA" });
    expect(await old.members.count({ where })).toBe(expected.length);
  }
}

/** Runs the change with a program that dies at its commit number `at`; whether it did. */
async function runAndCrash(kv: Kv, at: number): Promise<boolean> {
  const context = contextOf(await openNew(crashingKv(kv, at, "after")), "members");
  try {
    await runTransform(context);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(Crash);
    return true;
  }
}

// A crash before a commit leaves what a crash after the previous one leaves.
describe("after a crash after any commit", () => {
  it("a change of all rows continues, and each row is changed once", async () => {
    for (let at = 1, hasCrashed = true; hasCrashed; at++) {
      await withBegun(33, [], async (kv) => {
        hasCrashed = await runAndCrash(kv, at);
        // The lease, four batches, the end, and the lease again, whose release nobody waits for.
        if (!hasCrashed) expect(at).toBeGreaterThan(6);
        const db = await openNew(kv);
        if (hasCrashed) {
          const where = { id: memberId(20) };
          expect(await db.members.findUnique({ where })).toEqual(newMember(20));
          await expectMembersByVisits(kv);
        }
        // The entries and counters of changed fields match the rows as they are stored.
        await expectIndexesToMatch(kv, Member);
        expect(await runTransform(contextOf(db, "members"))).toBe("done");
        const expected = Array.from({ length: 33 }, (_, i) => newMember(i));
        expect(await storedRows(kv)).toEqual(expected);
        await expectIndexesToMatch(kv, Member);
      });
    }
  });

  it("rows that failed are recorded once, and only those", async () => {
    const nobodies = [0, 9, 10, 25];
    for (let at = 1, hasCrashed = true; hasCrashed; at++) {
      await withBegun(26, nobodies, async (kv) => {
        hasCrashed = await runAndCrash(kv, at);
        const db = await openNew(kv);
        const context = contextOf(db, "members");
        expect(await runTransform(context)).toBe("failed-rows");
        const { items } = await findFailedRows(db, { model: "members" });
        expect(items.map(({ id }) => id)).toEqual(nobodies.map(memberId));
        const expected = Array.from({ length: 26 }, (_, i) =>
          nobodies.includes(i) ? { ...oldMember(i), name: "nobody" } : newMember(i),
        );
        expect(await storedRows(kv)).toEqual(expected);
        // Who puts them right ends it: their number was not miscounted.
        for (const i of nobodies) await kv.set(["members", memberId(i)], newMember(i));
        expect(await runTransform(context)).toBe("done");
      });
    }
  });
});

const script = fileURLToPath(new URL("../migrate-until-killed.mjs", import.meta.url));

/**
 * Migrates in a process that is killed behind so many batches of a phase; undefined lets it come to
 * its end.
 */
async function runInChild(
  path: string,
  kill: { readonly phase: string; readonly batches: number } | undefined,
): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [script, path, String(rows)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === kill?.phase && ++seen === kill.batches) {
      setTimeout(() => child.kill("SIGKILL"), Math.random() * 5);
    }
  }
  const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null];
  if (signal === null) expect(code).toBe(0);
  return signal;
}

const rows = 3000;
const kills = [
  { phase: "dropping", batches: 1 },
  { phase: "transforming", batches: 2 },
  { phase: "transforming", batches: 6 },
  { phase: "building", batches: 1 },
  { phase: "verifying", batches: 1 },
];

// It waits for other processes, on whatever machine.
describe("a process that is killed while it migrates", () => {
  it("leaves each row as it was or as it is to be, and the next one continues", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keywright-"));
    const path = join(folder, "kv");
    try {
      let killed = 0;
      for (const kill of [...kills, undefined]) {
        if ((await runInChild(path, kill)) === "SIGKILL") killed++;
        await using kv = await openKv(path, { durability: "relaxed" });
        const stored = await storedRows(kv);
        expect(stored).toHaveLength(rows);
        for (const [i, row] of stored.entries()) {
          if (!isDeepStrictEqual(row, oldMember(i))) expect(row).toEqual(newMember(i));
        }
        await expectIndexesToMatch(kv, Member);
      }
      // One that is through before the signal comes is no failure of what is tested here.
      expect(killed).toBeGreaterThan(2);
      await using kv = await openKv(path, { durability: "relaxed" });
      expect(await storedRows(kv)).toEqual(Array.from({ length: rows }, (_, i) => newMember(i)));
      await expectIndexesToMatch(kv, Member);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
