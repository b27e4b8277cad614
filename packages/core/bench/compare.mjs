// Compares candidates in rounds, each candidate once per round, so that what else the machine does
// (other programs, heat, compaction) falls on all of them alike.
import { measure } from "mitata";

/**
 * Nanoseconds per operation of each candidate: the median of its rounds.
 *
 * @param candidates name → a function to call repeatedly, or one that makes a mitata generator.
 * @param effort the number of measured rounds, which follow one for warm-up, and the milliseconds
 * of each candidate in a round.
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
        // No sample is dropped, because a stall of every hundredth operation is part of the cost.
        samples_threshold: Number.POSITIVE_INFINITY,
      });
      if (round > 0) times.get(name).push(avg / operations);
    }
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, median(all)]));
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
