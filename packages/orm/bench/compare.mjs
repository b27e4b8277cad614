// Compares candidates in rounds, each candidate once per round, so that what else the machine does
// (other programs, heat, compaction) falls on all of them alike.
import { measure } from "mitata";

/**
 * Nanoseconds per operation of each candidate, one figure for each round.
 *
 * @param candidates name → a function to call repeatedly, or one that makes a mitata generator.
 * @param effort the number of measured rounds, which follow one for warm-up, and the milliseconds
 * of each candidate in a round.
 * @param operations how many operations one call does.
 */
export async function compare(candidates, { rounds, milliseconds }, operations = 1) {
  const times = new Map(Object.keys(candidates).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, candidate] of Object.entries(candidates)) {
      const { avg } = await measure(candidate, {
        gc: false,
        min_cpu_time: milliseconds * 1e6,
        min_samples: 2,
        // None is left out: a stall that every hundredth operation waits for is part of the price.
        samples_threshold: Number.POSITIVE_INFINITY,
      });
      if (round > 0) times.get(name).push(avg / operations);
    }
  }
  return Object.fromEntries(times);
}

/** Returns the ratio of theirs to ours over all rounds: the median and the quartiles. */
export function ratioOf(ours, theirs) {
  const ratios = ours.map((time, round) => theirs[round] / time);
  return { ratio: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}

export function median(numbers) {
  return quantile(numbers, 0.5);
}

function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)];
}
