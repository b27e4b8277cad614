import type { AtomicWrite, Engine, StoredMutation } from "../../engine/engine.js";
import { CorruptionError, EngineFailedError } from "../../errors/core-errors.js";
import {
  decodeHintKey,
  endOfDueHints,
  endOfHintKeys,
  firstHintKey,
  isHintKey,
} from "./expiry-hint.js";

const sweepSize = 500;
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
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;

  constructor(engine: Engine, commit: (write: AtomicWrite) => Promise<string | null>) {
    this.#engine = engine;
    this.#commit = commit;
  }

  /** Schedules the first sweep after the database was opened. Resolves when its read is done. */
  async start(): Promise<void> {
    const opened = Date.now();
    try {
      const [first] = await this.#hintsBefore(endOfHintKeys, 1);
      if (first === undefined) return;
      this.schedule(Math.max(decodeHintKey(first).dueAt, opened + openingDelay));
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
    const delay = Math.min(Math.max(dueAt - Date.now(), 0), maxDelay);
    this.#timer = setTimeout(() => this.#onDue(), delay);
    // No caller waits for a sweep, so it must not keep the process alive.
    this.#timer.unref();
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
      while (!this.#isClosed && (await this.#sweepBatch()) === sweepSize);
      const [next] = await this.#hintsBefore(endOfHintKeys, 1);
      if (next !== undefined) this.schedule(decodeHintKey(next).dueAt);
    } catch (error) {
      const isRemoved = await this.#removeDamagedHint(error).catch(() => false);
      this.schedule(Date.now() + (isRemoved ? 0 : retryDelay));
    }
  }

  async #sweepBatch(): Promise<number> {
    const hints = await this.#hintsBefore(endOfDueHints(Date.now()), sweepSize);
    if (hints.length === 0) return 0;
    try {
      await this.#commitMutations(hints.map(removal));
    } catch (error) {
      if (error instanceof EngineFailedError) throw error;
      // An unreadable record stays, so that a read reports it. Only its hint is deleted.
      for (const hint of hints) {
        await this.#commitMutations([removal(hint)]).catch(() =>
          this.#commitMutations([{ type: "delete", key: hint }]),
        );
      }
    }
    return hints.length;
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
