import { setTimeout } from "node:timers/promises";
import type { BackupSink } from "../backup-sink.js";
import { claimName, hasSameNumber, nextGeneration, readCatalog } from "../format/backup-catalog.js";

/** In milliseconds. */
const shortestWait = 5;
const longestWait = 2000;

/**
 * Returns the name of a new full backup. No other one has its number, also if several programs
 * begin one at the same moment: each puts an object with the number first, and then looks for those
 * of others. At least one of two programs sees that of the other, and tries again later.
 *
 * Call {@link endClaim} when the backup has its manifest or has failed.
 */
export async function claimGeneration(
  sink: BackupSink,
  signal: AbortSignal | undefined,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const start = performance.now();
    const generation = nextGeneration(await readCatalog(sink));
    await sink.put(claimName(generation), new Uint8Array(0));
    if (!(await hasSameNumber(sink, generation))) return generation;
    await endClaim(sink, generation);
    // Until then, the others have removed theirs too. They wait for another time.
    const longest = Math.max(shortestWait, performance.now() - start) * 2 ** attempt;
    const wait = Math.min(longestWait, longest) * Math.random();
    await setTimeout(wait, undefined, { signal }).catch(() => undefined);
  }
}

/** Removes what says that a full backup is being made. */
export async function endClaim(sink: BackupSink, generation: string): Promise<void> {
  await sink.delete(claimName(generation));
}
