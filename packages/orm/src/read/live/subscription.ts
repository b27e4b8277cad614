import type { Kv, KvRangeChange } from "@keywright/core";
import { nextTurn } from "@keywright/core/platform";
import { keyAfter } from "../../model/keys/key-parts.js";
import { isClosed } from "./is-closed.js";
import { canWatchRanges, type Watched } from "./watched.js";

/** An event: keys have changed, a time was reached, or the database was closed. */
export type WatchEvent =
  | { readonly kind: "change"; readonly change: KvRangeChange }
  | { readonly kind: "time" }
  | { readonly kind: "end" };

/** A change of unknown keys: any of the watched keys may have changed. */
const anyChange: KvRangeChange = { keys: [], isComplete: false };

/** The longest delay of a timer, in milliseconds. */
const maxDelay = 2 ** 31 - 1;

/**
 * How long it takes at most, in milliseconds, to notice that a database without events is closed.
 */
const endDelay = 500;

/**
 * Reports the changes of watched keys and ranges since its creation. Changes that occur while no
 * call waits are reported as one. On a database that cannot watch ranges, the first event comes
 * without a change.
 */
export class Subscription {
  readonly #kv: Kv;
  readonly #reader: ReadableStreamDefaultReader<unknown>;

  constructor(kv: Kv, watched: Watched) {
    this.#kv = kv;
    this.#reader = watch(kv, watched).getReader();
    // An error reaches the callers of `next` and `past`. Here it would be an unhandled rejection.
    this.#reader.closed.catch(() => undefined);
  }

  /**
   * Waits for the next change, but at most until a time. After a `time` event, the subscription
   * still waits for the change and keeps the process alive, so the caller must cancel it.
   *
   * @param until milliseconds since 1970, or `Infinity` for no limit.
   */
  async next(until: number): Promise<WatchEvent> {
    const change = this.#change();
    const reportsEnd = canWatchRanges(this.#kv);
    if (until === Number.POSITIVE_INFINITY && reportsEnd) return await change;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let endTimer: ReturnType<typeof setInterval> | undefined;
    const other = new Promise<WatchEvent>((resolve) => {
      if (until !== Number.POSITIVE_INFINITY) {
        const delay = Math.min(Math.max(until - Date.now(), 0), maxDelay);
        timer = setTimeout(resolve, delay, { kind: "time" });
      }
      if (reportsEnd) return;
      // The streams of `@deno/kv` do not end when it is closed.
      endTimer = setInterval(() => {
        if (isClosed(this.#kv)) resolve({ kind: "end" });
      }, endDelay);
    });
    try {
      return await Promise.race([change, other]);
    } finally {
      clearTimeout(timer);
      clearInterval(endTimer);
    }
  }

  /** Returns the event that has occurred, if any. After undefined, the caller must cancel. */
  async poll(): Promise<WatchEvent | undefined> {
    return await Promise.race([this.#change(), nextTurn(undefined)]);
  }

  cancel(): void {
    // Errors of a watch that is no longer needed are ignored.
    this.#reader.cancel().catch(() => undefined);
  }

  async #change(): Promise<WatchEvent> {
    const { done, value } = await this.#reader.read();
    if (done) return { kind: "end" };
    return { kind: "change", change: isRangeChange(value) ? value : anyChange };
  }
}

function watch(kv: Kv, { keys, ranges, marks }: Watched): ReadableStream<unknown> {
  if (canWatchRanges(kv)) {
    const entries = keys.map((key) => ({ start: key, end: keyAfter(key) }));
    return kv.watchRange([...entries, ...ranges]);
  }
  // Without `raw`, absent keys give no first report, which shows from when on they are watched.
  return kv.watch<unknown[]>([...keys, ...marks], { raw: true });
}

/** The reports of `watch` are arrays of entries. */
function isRangeChange(report: unknown): report is KvRangeChange {
  return !Array.isArray(report);
}
