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
 * as one. The stream ends when the database is closed or the signal is aborted. If a read throws,
 * the stream fails with that error. It does not keep the process alive unless a report is awaited.
 *
 * Changes are watched from this call on. Reading a state takes several steps. If a change comes
 * between them, the state is read again before it is reported, up to four times.
 */
export function liveStream<Report>(
  kv: Kv & { readonly isShared?: boolean },
  source: LiveSource<Report>,
  signal?: AbortSignal,
): ReadableStream<Report> {
  let { watched } = source;
  let subscription = new Subscription(kv, watched);
  let expireAt = Number.POSITIVE_INFINITY;
  let reported: string | undefined;
  let isDue = true;
  let isCancelled = false;
  let onAbort: (() => void) | undefined;

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
      if (isCancelled) return;
      if (!isClosedError(error)) {
        stop();
        throw error;
      }
    }
    if (isCancelled) return;
    if (state === undefined) return end(controller);
    reported = state.stamp;
    controller.enqueue(state.report);
  }

  function stop(): void {
    isCancelled = true;
    subscription.cancel();
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }

  function end(controller: ReadableStreamDefaultController<Report>): void {
    if (isCancelled) return;
    stop();
    controller.close();
  }

  return new LiveStream<Report>({ pull, cancel: stop }, (controller) => {
    onAbort = () => end(controller);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort);
    return onAbort;
  });
}

/** A stream that can be cancelled while a loop or a reader has it: the loop then ends. */
class LiveStream<Report> extends ReadableStream<Report> {
  readonly #end: () => void;

  /** @param start returns a function that ends the stream. */
  constructor(
    source: {
      readonly pull: (controller: ReadableStreamDefaultController<Report>) => Promise<void>;
      readonly cancel: () => void;
    },
    start: (controller: ReadableStreamDefaultController<Report>) => () => void,
  ) {
    let end: () => void = () => undefined;
    // With a high-water mark of 0, no state is read before the consumer asks for it.
    super(
      {
        ...source,
        start: (controller) => {
          end = start(controller);
        },
      },
      { highWaterMark: 0 },
    );
    this.#end = end;
  }

  override async cancel(reason?: unknown): Promise<void> {
    if (this.locked) this.#end();
    else await super.cancel(reason);
  }
}
