import { openKv } from "@keywright/core";
import fc from "fast-check";
import { Random } from "../shared/random.mjs";
import { DelayedLevel } from "./delayed-level.mjs";
import { drive } from "./drive.mjs";
import { scenarios } from "./scenarios.mjs";

/** How often each scenario is chosen, among 100 schedules. The last ones take much longer. */
const shares = {
  ...{ commits: 32, watches: 30, close: 21, queue: 12 },
  ...{ unique: 2, transactions: 1, backfill: 1, takeover: 1 },
};
const names = Object.entries(shares).flatMap(([name, share]) => Array(share).fill(name));

/**
 * Runs one scenario in the order that a seed determines.
 *
 * @param name the scenario. The seed chooses it by default.
 * @param wrap returns the database that the scenario uses. Tests plant faults with it.
 * @returns the name of the scenario, and what is wrong.
 */
export async function checkSchedule(seed, name = names[seed % names.length], wrap = same) {
  const random = new Random(seed);
  const [scheduler] = fc.sample(fc.scheduler(), { seed, numRuns: 1 });
  const level = new DelayedLevel(random.below(2) === 0);
  level.delay = (call) => scheduler.schedule(Promise.resolve(), call);
  try {
    const kv = await drive(scheduler, openKv(level));
    try {
      return { name, problems: await scenarios[name]({ kv: wrap(kv), level, scheduler, random }) };
    } finally {
      await drive(scheduler, kv.close()).catch(() => undefined);
    }
  } catch (error) {
    return { name, problems: [String(error)] };
  }
}

function same(kv) {
  return kv;
}
