import { unref } from "#platform";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { AtomicWrite, Engine, StoredMutation } from "../../engine/engine.js";
import { CorruptionError } from "../../errors/core-errors.js";
import {
  decodeHintKey,
  endOfDueHints,
  endOfHintKeys,
  firstHintKey,
  isHintKey,
} from "./expiry-hint.js";

const maxSweepSize = 500;
/**
 * Milliseconds from the expiry of an entry of a shared database to its sweep, because the clock of
 * its server may be behind that of this process.
 */
const sharedGrace = 10_000;
const sharedPause = 1000;
/** Milliseconds after which a shared database is swept of what ended processes have stored. */
const sharedInterval = 600_000;
/** The longest delay of a timer, in milliseconds. */
const maxDelay = 2 ** 31 - 1;
/** Milliseconds from a failed sweep to the next one. */
const retryDelay = 60_000;
/**
 * Milliseconds from opening a database to the sweep of what had expired before. A worker of Deno
 * that ends during a read crashes in classic-level, and many workers open a database only briefly.
 */
const openingDelay = 1000;

/**
 * Reclaims the space of expired entries, in the background and in batches. Readers do not depend on
 * it, because a read never returns an expired entry, swept or not.
 */
export class ExpirySweeper {
  readonly #engine: Engine;
  readonly #commit: (write: AtomicWrite) => Promise<string | null>;
  readonly #sweepSize: number;
  readonly #grace: number;
  /** The minimum and maximum number of milliseconds between two sweeps. */
  readonly #pause: number;
  readonly #interval: number;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;

  constructor(engine: Engine, commit: (write: AtomicWrite) => Promise<string | null>) {
    this.#engine = engine;
    this.#commit = commit;
    // The removal of an entry and its hint is two mutations.
    const { mutations = Number.POSITIVE_INFINITY } = engine.limits;
    this.#sweepSize = Math.max(1, Math.min(maxSweepSize, Math.floor(mutations / 2)));
    this.#grace = engine.isShared ? sharedGrace : 0;
    this.#pause = engine.isShared ? sharedPause : 0;
    this.#interval = engine.isShared ? sharedInterval : Number.POSITIVE_INFINITY;
  }

  /** Schedules the first sweep after the database was opened. Resolves when its read is done. */
  async start(): Promise<void> {
    const opened = Date.now();
    try {
      const [first] = await this.#hintsBefore(endOfHintKeys, 1);
      const dueAt = this.#nextDueAt(first);
      this.schedule(Math.max(dueAt, opened + openingDelay));
    } catch {
      // The sweep reports no error either. It also removes the damage that it finds.
      this.schedule(opened + openingDelay);
    }
  }

  /** @param dueAt milliseconds since the epoch. No effect if an earlier sweep is scheduled. */
  schedule(dueAt: number): void {
    if (this.#isClosed || dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    clearTimeout(this.#timer);
    const delay = Math.min(Math.max(dueAt + this.#grace - Date.now(), 0), maxDelay);
    this.#timer = setTimeout(() => this.#onDue(), delay);
    // No caller waits for a sweep, so it must not keep the process alive.
    unref(this.#timer);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  #onDue(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#sweeping = (this.#sweeping ?? Promise.resolve()).then(() => this.#sweep());
  }

  /** Removes expired entries. Never rejects: a later sweep removes what an error leaves. */
  async #sweep(): Promise<void> {
    try {
      await this.#sweepBatches();
      const [next] = await this.#hintsBefore(endOfHintKeys, 1);
      this.schedule(Math.max(this.#nextDueAt(next), Date.now() - this.#grace + this.#pause));
    } catch (error) {
      const isRemoved = await this.#removeDamagedHint(error).catch(() => false);
      this.schedule(Date.now() + (isRemoved ? 0 : retryDelay));
    }
  }

  /** Returns when the next sweep is due: for its hint, or after the interval. */
  #nextDueAt(hint: Uint8Array | undefined): number {
    const dueAt = hint === undefined ? Number.POSITIVE_INFINITY : decodeHintKey(hint).dueAt;
    return Math.min(dueAt, Date.now() + this.#interval);
  }

  async #sweepBatches(): Promise<void> {
    let previous = "";
    while (!this.#isClosed) {
      const hints = await this.#hintsBefore(
        endOfDueHints(Date.now() - this.#grace),
        this.#sweepSize,
      );
      const [first] = hints;
      // A hint that stays is that of an entry which has not expired by the clock of the server.
      if (first === undefined || textOfBytes(first) === previous) return;
      previous = textOfBytes(first);
      await this.#removeAll(hints);
      if (hints.length < this.#sweepSize) return;
    }
  }

  async #removeAll(hints: readonly Uint8Array[]): Promise<void> {
    try {
      await this.#commitMutations(hints.map(removal));
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      // An unreadable record stays, so that a read reports it. Only its hint is deleted.
      for (const hint of hints) {
        await this.#commitMutations([removal(hint)]).catch(() =>
          this.#commitMutations([{ type: "delete", key: hint }]),
        );
      }
    }
  }

  async #hintsBefore(end: Uint8Array, limit: number): Promise<Uint8Array[]> {
    const range = { start: firstHintKey, end };
    const hints = await this.#engine.getRange({ range, limit, reverse: false });
    return hints.map((hint) => hint.key);
  }

  /** Returns true if the error is that of a damaged hint, which is then deleted. */
  async #removeDamagedHint(error: unknown): Promise<boolean> {
    if (!(error instanceof CorruptionError && error.key !== undefined && isHintKey(error.key)))
      return false;
    // Losing a hint costs only space, because the entry itself stores when it expires.
    await this.#commitMutations([{ type: "delete", key: error.key }]);
    return true;
  }

  async #commitMutations(mutations: StoredMutation[]): Promise<void> {
    await this.#commit({ checks: [], mutations, sync: false });
  }
}

function removal(hintKey: Uint8Array): StoredMutation {
  const { key, dueAt } = decodeHintKey(hintKey);
  return { type: "deleteExpired", key, hint: { key: hintKey, dueAt } };
}
