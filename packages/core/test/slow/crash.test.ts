import { describe, expect, it } from "vitest";
import { openKv } from "../../src/kv/open-kv.js";
import { CrashRun } from "../crash-run.mjs";
import { withFolder } from "../temporary-folder.js";

/** `npm run soak:crash` makes many more. */
const kills = Number(process.env.KEYWRIGHT_KILLS ?? 10);

/**
 * The kills of processes that write one database. Each is followed by a check of all its entries,
 * so the time grows with their square.
 */
const killsOfOne = 10;

/**
 * The number of acknowledged commits before a process is killed: mostly few, sometimes many or
 * none.
 */
function acknowledgements(cycle: number): number {
  if (cycle % 10 === 9) return 0;
  return 1 + Math.floor(Math.random() * (cycle % 10 === 0 ? 2000 : 400));
}

// It waits for other processes, on whatever machine.
describe("a process that is killed while it commits", { timeout: 300_000 }, () => {
  it("leaves every acknowledged commit whole, and none by half", async () => {
    for (let first = 0; first < kills; first += killsOfOne) {
      await withFolder(async (path) => {
        const run = new CrashRun(openKv, path);
        const last = Math.min(first + killsOfOne, kills);
        for (let cycle = first; cycle < last; cycle++) {
          const before = run.acknowledged;
          const wanted = acknowledgements(cycle);
          const problems = await run.cycle(cycle % 8 < 4 ? "full" : "relaxed", wanted);
          expect(problems).toEqual([]);
          expect(run.acknowledged - before).toBeGreaterThanOrEqual(wanted);
        }
        expect(run.cycles).toBe(last - first);
      });
    }
  });
});
