import { fates } from "./disk-state.mjs";
import { PowerRun } from "./power-run.mjs";

/** Processes that commit to one database, each of which continues on the disk after a cut. */
const rounds = 2;

/**
 * Records two processes that commit values of up to `valueBytes` one after the other, and cuts the power at random times of
 * both. With `"full"`, the second process finds a disk that a power cut may have left; with
 * `"relaxed"`, one that a killed process may have left.
 *
 * @returns how many cuts had each outcome, and the problems in words: none, if all is well.
 */
export async function cutPower({ durability, commits, valueBytes, cuts, random }) {
  const run = await PowerRun.begin(random);
  const outcomes = { whole: 0, prefix: 0, refused: 0, wrong: 0 };
  const problems = [];
  let acknowledged = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      await run.commit({ durability, commits, valueBytes, closes: random.next() < 0.5 });
      acknowledged += commits;
      for (let cut = 0; cut < cuts / rounds; cut++) {
        const outcome = await run.cut(run.pickCut(), { durability, fate: random.pick(fates) });
        outcomes[outcome.kind]++;
        if (!outcome.isAllowed) problems.push(...outcome.problems);
      }
      const fate = durability === "full" ? random.pick(fates) : "everything";
      await run.continueAfter(run.pickCut(), fate);
    }
  } finally {
    await run.end();
  }
  return { outcomes, problems, acknowledged };
}
