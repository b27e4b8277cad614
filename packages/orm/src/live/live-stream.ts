import type { Kv, KvRangeChange } from "@keywright/core";
import { detectChanges } from "./change-detector.js";
import { isClosedError } from "./is-closed.js";
import { Subscription } from "./subscription.js";
import type { Watched } from "./watched.js";

export interface LiveSource<Report> {
  /** The keys and ranges that the first state depends on. */
  readonly watched: Watched;
  read(): Promise<LiveState<Report>>;
  /** True if the state may differ from the one that was read last, because of a change. */
  mayAffect(change: KvRangeChange): Promise<boolean>;
}

export interface LiveState<Report> {
  readonly report: Report;
  /** Equal for equal states, and different for different ones. */
  readonly stamp: string;
  /** True if entries led to no row, for example because a commit came between two reads. */
  readonly hasLostEntries?: boolean;
  /** When the first row expires, in milliseconds since 1970, or `Infinity`. */
  readonly expireAt: number;
  /** The keys and ranges to watch from now on; undefined if they stay the same. */
  readonly watched?: Watched | undefined;
}

/** The delay, in milliseconds, after which an entry that still exists after it expired is read. */
const lingerDelay = 1000;

/** The maximum number of reads for one report if changes keep coming while the state is read. */
const maxReads = 4;

/**
 * Returns a stream of the states of a live query: the current state, and then each new state. A
 * state is read when the consumer asks for it, so changes that come faster than this are reported
 * as one. The stream ends when the database is closed. If a read throws, the stream fails with that
 * error. It does not keep the process alive unless a report is awaited.
 *
 * Changes are watched from this call on. Reading a state takes several steps. If a change comes
 * between them, the state is read again before it is reported, up to four times.
 */
export function liveStream<Report>(
  kv: Kv & { readonly isShared?: boolean },
  source: LiveSource<Report>,
): ReadableStream<Report> {
  let { watched } = source;
  let subscription = new Subscription(kv, watched);
  let expireAt = Number.POSITIVE_INFINITY;
  let reported: string | undefined;
  let isDue = true;
  let isCancelled = false;

  function restartWatch(): void {
    subscription.cancel();
    if (!isCancelled) subscription = new Subscription(kv, watched);
  }

  /** Waits until the state may have changed. Returns false when the stream has ended. */
  async function waitForChange(): Promise<boolean> {
    for (;;) {
      const event = await subscription.next(expireAt);
      if (isCancelled || event.kind === "end") return false;
      if (event.kind === "time") {
        restartWatch();
        return true;
      }
      if (await source.mayAffect(event.change)) return true;
    }
  }

  /** If other keys are watched from now on, earlier changes of them need another read. */
  async function read(): Promise<LiveState<Report>> {
    isDue = false;
    const readAt = Date.now();
    const state = await source.read();
    expireAt = state.expireAt > readAt ? state.expireAt : readAt + lingerDelay;
    if (state.watched !== undefined) {
      watched = state.watched;
      restartWatch();
      isDue = true;
    }
    return state;
  }

  /** Reads a state that no change has interrupted, unless changes keep coming. */
  async function readConsistently(): Promise<LiveState<Report>> {
    let lost: string | undefined;
    for (let reads = 1; ; reads++) {
      const look = await detectChanges(kv, watched);
      try {
        const state = await read();
        if (isCancelled || state.stamp === reported || reads === maxReads) return state;
        if (await look.hasChanged(source.mayAffect)) continue;
        // In a shared database, the commit may be reported later. Entries that lead to no row in a
        // second read either were left by a program.
        const isTorn = kv.isShared && state.hasLostEntries && state.stamp !== lost;
        if (!isTorn) return state;
        lost = state.stamp;
      } finally {
        look.end();
      }
    }
  }

  async function nextState(): Promise<LiveState<Report> | undefined> {
    for (;;) {
      if (!isDue && !(await waitForChange())) return undefined;
      const state = await readConsistently();
      if (isCancelled || state.stamp !== reported) return state;
    }
  }

  async function pull(controller: ReadableStreamDefaultController<Report>): Promise<void> {
    let state: LiveState<Report> | undefined;
    try {
      state = await nextState();
    } catch (error) {
      subscription.cancel();
      if (!isCancelled && !isClosedError(error)) throw error;
    }
    if (isCancelled) return;
    if (state === undefined) return controller.close();
    reported = state.stamp;
    controller.enqueue(state.report);
  }

  function cancel(): void {
    isCancelled = true;
    subscription.cancel();
  }

  // With a high-water mark of 0, no state is read before the consumer asks for it.
  return new ReadableStream<Report>({ pull, cancel }, { highWaterMark: 0 });
}
