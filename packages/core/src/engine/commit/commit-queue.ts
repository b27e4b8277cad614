import { nextTurn } from "#platform";
import { EngineFailedError } from "../../errors/core-errors.js";
import type { AtomicWrite, Engine, WriteOutcome } from "../engine.js";

/** A group is full if its mutations have this many bytes of keys and values, or more. */
const maxGroupBytes = 8 * 1024 * 1024;

/**
 * With `commitsAtOnce`, a group with this many mutations waits for the commits of the next turn of
 * the event loop. It stops waiting if a turn adds no commit, or if it has `largestGathered`
 * mutations.
 */
const largeGroup = 64;
const largestGathered = 3000;

interface Waiting {
  readonly write: AtomicWrite;
  readonly resolve: (versionstamp: string | null) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Collects commits into groups that share one write and its fsync. The commits of one turn of the
 * event loop form a group, and so do those that arrive while another group is being written, unless
 * a group is full. Commits are applied in the order in which they arrive.
 *
 * After a failed write, the state on disk is unknown. The queue then rejects the commits that wait
 * and all further ones.
 */
export class CommitQueue {
  readonly #engine: Engine;
  readonly #maxGroupSize: number;
  readonly #onApplied: (write: AtomicWrite) => void;
  #waiting: Waiting[] = [];
  #isDraining = false;
  #lastCommit: Promise<unknown> | undefined;
  #failure: EngineFailedError | undefined;

  /** @param onApplied is called for each applied write, before its commit resolves. */
  constructor(
    engine: Engine,
    maxGroupSize: number,
    onApplied: (write: AtomicWrite) => void = () => undefined,
  ) {
    this.#engine = engine;
    this.#maxGroupSize = maxGroupSize;
    this.#onApplied = onApplied;
  }

  /**
   * Resolves with the versionstamp of the write, or with null if a check failed.
   *
   * @throws {CorruptionError} if the record of a key that the write depends on is damaged.
   * @throws {NotU64Error} if a `sum`, `min` or `max` finds a value that is not a `KvU64`.
   * @throws {EngineFailedError} if the write of this or an earlier group failed, or if a key that
   * the write depends on cannot be read.
   * @throws {DatabaseClosedError} if the engine's database was closed from outside.
   */
  commit(write: AtomicWrite): Promise<string | null> {
    const commit = new Promise<string | null>((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
    });
    this.#lastCommit = commit;
    if (!this.#isDraining) void this.#drain();
    return commit;
  }

  /** Resolves when all commits that were made before this call have settled. */
  async idle(): Promise<void> {
    await this.#lastCommit?.catch(() => undefined);
  }

  /** Never rejects, because each commit is settled by itself. */
  async #drain(): Promise<void> {
    this.#isDraining = true;
    // Commits that are made in the same turn of the event loop join the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      if (this.#engine.commitsAtOnce === true) await this.#gather();
      const group = this.#takeGroup();
      try {
        if (this.#failure !== undefined) throw this.#failure;
        const outcomes = await this.#engine.commit(group.map((waiting) => waiting.write));
        for (const [index, waiting] of group.entries()) this.#answer(waiting, outcomes[index]!);
      } catch (error) {
        this.#failure ??= new EngineFailedError(error, "commit");
        for (const waiting of group) waiting.reject(this.#failure);
      }
    }
    this.#isDraining = false;
  }

  /** Such an engine blocks the thread while it commits, so other commits must arrive before. */
  async #gather(): Promise<void> {
    let counted = 0;
    let mutations = 0;
    while (counted < this.#waiting.length) {
      for (; counted < this.#waiting.length; counted++)
        mutations += this.#waiting[counted]!.write.mutations.length;
      if (mutations < largeGroup || mutations >= largestGathered) return;
      await nextTurn();
    }
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let size = 0;
    while (size < this.#waiting.length && size < this.#maxGroupSize && bytes < maxGroupBytes) {
      bytes += bytesOf(this.#waiting[size]!.write);
      size++;
    }
    const group = this.#waiting.slice(0, size);
    this.#waiting = this.#waiting.slice(size);
    return group;
  }

  #answer({ write, resolve, reject }: Waiting, outcome: WriteOutcome): void {
    if (outcome instanceof Error) {
      reject(outcome);
      return;
    }
    if (outcome !== null) this.#onApplied(write);
    resolve(outcome);
  }
}

function bytesOf(write: AtomicWrite): number {
  let bytes = 0;
  for (const mutation of write.mutations) {
    bytes += mutation.key.length + (mutation.type === "set" ? mutation.value.length : 0);
  }
  return bytes;
}
