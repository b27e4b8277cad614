import { isBuiltin } from "node:module";
import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { Random } from "../shared/random.mjs";
import { problemsOfOrders } from "./check-orders.mjs";
import { runJobs } from "./jobs-run.mjs";
import { addOrders, openOrders } from "./orders.mjs";
import { orderProblems } from "./priority-run.mjs";

const seed = Date.now();

// It waits for other processes, on whatever machine.
describe("workers that are killed", { timeout: 300_000 }, () => {
  const places = [["a LevelDB folder", "kv"]];
  if (isBuiltin("node:sqlite")) places.push(["an SQLite file", "kv.sqlite"]);
  else it.skip("of an SQLite file, because this Node.js has no node:sqlite");

  it.each(places)("lose no job and commit none twice in %s", async (_title, name) => {
    const { kills, problems } = await runJobs({
      name,
      jobs: 500,
      kills: 4,
      random: new Random(seed),
    });
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(kills).toBe(4);
  });
});

it("jobs of a higher priority begin first", async () => {
  expect((await orderProblems({ jobs: 2000 })).problems).toEqual([]);
});

it("the check notices lost jobs, and those that were committed twice", async () => {
  const kv = await openKv();
  try {
    const db = await openOrders(kv);
    await addOrders(db, 0, 0, 8);
    const write = (n, kind) => db.receipts.create({ data: { order: `0/${n}`, kind, priority: 0 } });
    for (const n of [0, 2, 3, 3, 4, 5]) await write(n, "pay");
    for (const n of [1, 6, 6]) await write(n, "note");
    const { problems, repeated } = await problemsOfOrders(kv, 1, 9);
    expect(repeated).toBe(1);
    expect(problems).toContain("twice: order 0/3 has 2 receipts");
    expect(problems).toContain("lost: the failed job of order 0/7");
    expect(problems).toContain("lost: order 0/8 is not stored");
    expect(problems).toContain("other: 5 jobs of pay are waiting, not 0");
  } finally {
    await kv.close();
  }
});
