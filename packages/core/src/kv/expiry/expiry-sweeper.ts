import type { AtomicWrite, Engine, StoredMutation } from "../../engine/engine.js";
import { CorruptionError, EngineFailedError } from "../../errors/core-errors.js";
import {
  decodeHintKey,
  endOfDueHints,
  endOfHintKeys,
  firstHintKey,
  isHintKey,
} from "./expiry-hint.js";

/** So many expired entries are removed by one commit. */
const sweepSize = 500;
/** The longest time a timer can wait. */
const maxDelay = 2 ** 31 - 1;

/**
 * Takes back the space of expired entries, in the background and in batches. Readers do not depend on it: what has
 * expired is not returned, whether it has been swept or not.
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

  /** Has a sweep done at a time (milliseconds since the epoch), where none is to be done before. */
  schedule(dueAt: number): void {
    if (this.#isClosed || dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    clearTimeout(this.#timer);
    const delay = Math.min(Math.max(dueAt - Date.now(), 0), maxDelay);
    this.#timer = setTimeout(() => this.#onDue(), delay);
    // Nobody waits for it: it does not keep the process running.
    this.#timer.unref();
  }

  /** Sweeps no more. Resolves when a sweep that was under way has come to its end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  #onDue(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#sweeping = (this.#sweeping ?? Promise.resolve()).then(() => this.#sweep());
  }

  /** Removes what has expired. It never rejects: what it leaves behind the next one finds. */
  async #sweep(): Promise<void> {
    try {
      while (!this.#isClosed && (await this.#sweepBatch()) === sweepSize);
      const [next] = await this.#hintsBefore(endOfHintKeys, 1);
      if (next !== undefined) this.schedule(decodeHintKey(next).dueAt);
    } catch (error) {
      await this.#removeDamagedHint(error);
    }
  }

  async #sweepBatch(): Promise<number> {
    const hints = await this.#hintsBefore(endOfDueHints(Date.now()), sweepSize);
    if (hints.length === 0) return 0;
    try {
      await this.#commitMutations(hints.map(removal));
    } catch (error) {
      if (error instanceof EngineFailedError) throw error;
      // A record among them that cannot be read is left for its reader to report, and hinted at no more.
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

  async #removeDamagedHint(error: unknown): Promise<void> {
    if (!(error instanceof CorruptionError && error.key !== undefined && isHintKey(error.key)))
      return;
    // It has nothing but its key to say, and the entry it was made for says itself when it expires.
    const removal = this.#commitMutations([{ type: "delete", key: error.key }]);
    await removal.then(
      () => this.schedule(Date.now()),
      () => undefined,
    );
  }

  async #commitMutations(mutations: StoredMutation[]): Promise<void> {
    await this.#commit({ checks: [], mutations, sync: false });
  }
}

/** What removes the entry that a hint is for, where it has expired and was not set again, and the hint. */
function removal(hintKey: Uint8Array): StoredMutation {
  const { key, dueAt } = decodeHintKey(hintKey);
  return { type: "deleteExpired", key, hint: { key: hintKey, dueAt } };
}
