import { setImmediate, setTimeout } from "node:timers/promises";
import type { SharedEngine } from "../../open/shared-engine.js";

/** At this many commits per second, or more, the rests have their full length. */
const busyRate = 1000;
/** The full length of rests, as a multiple of the time that the work has taken. */
const fullRest = 6;
/** In milliseconds. Timers are not exact enough for shorter rests. */
const shortestRest = 2;

/**
 * Divides the time of a process between work in the background and its commits. The work shares the
 * thread, the cache and the disk with them, so it rests after each part. The rest is longer if
 * there are more commits. Without commits, it only lets other tasks run.
 */
export class Pace {
  readonly #shared: Pick<SharedEngine, "appliedCommits">;
  /**
   * The number of commits and the time when the last rest with a timer began. Both measure the rate
   * of commits.
   */
  #commits: number;
  #measuredAt = performance.now();
  #workedFrom = this.#measuredAt;
  /** Milliseconds of rest that are due. */
  #due = 0;

  constructor(shared: Pick<SharedEngine, "appliedCommits">) {
    this.#shared = shared;
    this.#commits = shared.appliedCommits;
  }

  /** Call this after each part of the work, which should take a few milliseconds. */
  async rest(): Promise<void> {
    const now = performance.now();
    const commits = this.#shared.appliedCommits - this.#commits;
    const rate = (1000 * commits) / Math.max(1, now - this.#measuredAt);
    this.#due += (now - this.#workedFrom) * fullRest * Math.min(1, rate / busyRate);
    if (this.#due < shortestRest) {
      await setImmediate();
    } else {
      this.#commits += commits;
      this.#measuredAt = now;
      await setTimeout(this.#due);
      this.#due = 0;
    }
    this.#workedFrom = performance.now();
  }
}
