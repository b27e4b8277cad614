import { setImmediate as nextTurn } from "node:timers/promises";
import type { Kv, KvRangeChange } from "@keywright/core";
import { tellsOfRanges, type Watched } from "./watched.js";

/** What has happened: keys have changed, the time has come, or the database was closed. */
export type Occasion =
  | { readonly kind: "change"; readonly change: KvRangeChange }
  | { readonly kind: "time" }
  | { readonly kind: "end" };

/** Any of the watched keys may have changed. */
const anyChange: KvRangeChange = { keys: [], isComplete: false };

/** The longest time a timer can wait. */
const maxDelay = 2 ** 31 - 1;

/** Sorts before every other part: no key stands between one and the same with this part behind it. */
const nothing: Uint8Array = new Uint8Array();

/**
 * Tells of every change of what is watched that comes after it was made; those that nobody waits for it tells of as one.
 * Databases that do not tell of ranges have it report once without a change.
 */
export class Subscription {
  readonly #reader: ReadableStreamDefaultReader<unknown>;

  constructor(kv: Kv, watched: Watched) {
    this.#reader = watch(kv, watched).getReader();
    // Where it is an error, those who wait are told.
    this.#reader.closed.catch(() => undefined);
  }

  /**
   * Resolves at the next change, or at a time without one. After that time it goes on waiting, which holds the process:
   * it is to be cancelled then.
   *
   * @param until milliseconds since 1970, `Infinity` for none.
   */
  async next(until: number): Promise<Occasion> {
    const change = this.#change();
    if (until === Number.POSITIVE_INFINITY) return await change;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const time = new Promise<Occasion>((resolve) => {
      const delay = Math.min(Math.max(until - Date.now(), 0), maxDelay);
      timer = setTimeout(resolve, delay, { kind: "time" });
    });
    try {
      return await Promise.race([change, time]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What has happened already; undefined where nothing has, and then it is to be cancelled as after `next`. */
  async past(): Promise<Occasion | undefined> {
    return await Promise.race([this.#change(), nextTurn(undefined)]);
  }

  /** Ends it: nothing is watched any more. */
  cancel(): void {
    // What goes wrong with a watch that nobody wants any more nobody wants to know.
    this.#reader.cancel().catch(() => undefined);
  }

  async #change(): Promise<Occasion> {
    const { done, value } = await this.#reader.read();
    if (done) return { kind: "end" };
    return { kind: "change", change: isRangeChange(value) ? value : anyChange };
  }
}

function watch(kv: Kv, { keys, ranges, marks }: Watched): ReadableStream<unknown> {
  if (tellsOfRanges(kv)) {
    const entries = keys.map((key) => ({ start: key, end: [...key, nothing] }));
    return kv.watchRange([...entries, ...ranges]);
  }
  // Raw, for a first report of absent keys: without it nobody knows from when on they are watched.
  return kv.watch<unknown[]>([...keys, ...marks], { raw: true });
}

/** The reports of `watch` are arrays of entries. */
function isRangeChange(report: unknown): report is KvRangeChange {
  return !Array.isArray(report);
}
