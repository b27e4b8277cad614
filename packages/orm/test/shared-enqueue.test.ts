import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineJob } from "../src/index.js";
import { Crash, crashingKv, interferingKv, interruptedKv } from "./faulty-kv.js";

const Task = defineJob({ name: "task", schema: z.object({ n: z.number() }) });
const open = (kv: Kv) => createDatabase({ kv, models: {}, jobs: { task: Task } });

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv(":memory:");
  await open(kv);
});
afterEach(() => kv.close());

const numbers = Array.from({ length: 20 }, (_, n) => n);

/** Returns a database with the jobs, and how many commits it has made. */
async function counting() {
  let commits = 0;
  const counted = interruptedKv(kv, () => {
    commits++;
    return undefined;
  });
  return { db: await open(counted), commits: () => commits };
}

it("calls of one turn share a commit", async () => {
  const { db, commits } = await counting();
  const enqueued = await Promise.all(numbers.map((n) => db.jobs.task.enqueue({ n })));
  expect(commits()).toBe(1);
  expect(new Set(enqueued.map(({ id }) => id)).size).toBe(20);
  for (const [n, { id }] of enqueued.entries())
    expect((await db.jobs.task.get(id))?.payload).toEqual({ n });
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 20 });
});

it("more calls than a commit takes need several, and none is lost", async () => {
  const { db, commits } = await counting();
  const many = Array.from({ length: 90 }, (_, n) => [{ n }, { n }, { n }]);
  const enqueued = await Promise.all(many.map((each) => db.jobs.task.enqueueMany(each)));
  expect(enqueued.every((each) => each.length === 3)).toBe(true);
  expect(commits()).toBe(3);
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 270 });
});

it("a job that the database refuses fails no other", async () => {
  const { db } = await counting();
  const unique = "x".repeat(70_000);
  const results = await Promise.allSettled(
    numbers.map((n) => db.jobs.task.enqueue({ n }, n === 7 ? { unique } : {})),
  );
  const failed = results.flatMap(({ status }, n) => (status === "rejected" ? [n] : []));
  expect(failed).toEqual([7]);
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 19 });
});

it("jobs with the same key are one job", async () => {
  const { db, commits } = await counting();
  const all = await Promise.all(
    numbers.map((n) => db.jobs.task.enqueue({ n }, { unique: `${n % 2}` })),
  );
  expect(commits()).toBe(1);
  expect(all.filter(({ isNew }) => isNew)).toHaveLength(2);
  expect(new Set(all.map(({ id }) => id)).size).toBe(2);
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 2 });
});

it.each(["before", "after"] as const)(
  "nothing is enqueued again if it is not known what was stored: %s",
  async (moment) => {
    const db = await open(crashingKv(kv, 1, moment));
    const enqueuing = Promise.allSettled(numbers.map((n) => db.jobs.task.enqueue({ n })));
    for (const result of await enqueuing)
      expect(result).toMatchObject({ status: "rejected", reason: expect.any(Crash) });
    const stored = await (await open(kv)).jobs.task.counts();
    expect(stored.waiting).toBe(moment === "before" ? 0 : 20);
  },
);

it("a call whose unique key others take and give up all the time delays no other", async () => {
  const others = await open(kv);
  let commits = 0;
  let taken: string | undefined;
  const changing = interferingKv(kv, async () => {
    commits++;
    if (taken === undefined) taken = (await others.jobs.task.enqueue({ n: 0 }, { unique: "a" })).id;
    else {
      await others.jobs.task.cancel(taken);
      taken = undefined;
    }
  });
  const db = await open(changing);
  const before = commits;
  const calls = [db.jobs.task.enqueue({ n: 1 }, { unique: "a" }), db.jobs.task.enqueue({ n: 2 })];
  const [, other] = await Promise.all(calls);
  expect((await others.jobs.task.get(other!.id))?.payload).toEqual({ n: 2 });
  expect(commits - before).toBeLessThan(10);
});
