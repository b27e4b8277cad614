// Measures candidates in rounds, each candidate once in each round, so that other load on the
// machine (other programs, heat, compaction) affects all of them alike.
import { measure } from "mitata";

/**
 * Returns the nanoseconds per operation of each candidate, one figure for each round.
 *
 * @param candidates by name, a function that is called repeatedly, or a mitata benchmark.
 * @param effort the number of rounds that are measured, after one that is not, and the milliseconds
 *   of a candidate in each round.
 * @param operations the number of operations of one call.
 */
export async function compare(candidates, { rounds, milliseconds }, operations = 1) {
  const times = new Map(Object.keys(candidates).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, candidate] of Object.entries(candidates)) {
      const { avg } = await measure(candidate, {
        gc: false,
        min_cpu_time: milliseconds * 1e6,
        min_samples: 2,
        // Keeps all samples: a stall of every hundredth operation is part of the cost.
        samples_threshold: Number.POSITIVE_INFINITY,
      });
      if (round > 0) times.get(name).push(avg / operations);
    }
  }
  return Object.fromEntries(times);
}

/** Returns the ratio theirs / ours of the rounds: the median, and the bounds of the middle half. */
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
