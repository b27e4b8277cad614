import type { Kv, KvRangeChange } from "@keywright/core";
import { isClosedError } from "./is-closed-error.js";
import { beginLook } from "./look.js";
import { Subscription } from "./subscription.js";
import type { Watched } from "./watched.js";

/** What a live query reads, and when it has to be read again. */
export interface LiveSource<Report> {
  /** What the first state depends on. */
  readonly watched: Watched;
  /** Reads the state as it is now. */
  read(): Promise<LiveState<Report>>;
  /** Whether a change may make the state another than the one that was read last. */
  concerns(change: KvRangeChange): Promise<boolean>;
}

/** The state of a live query at one time. */
export interface LiveState<Report> {
  readonly report: Report;
  /** What tells it from other states. */
  readonly stamp: string;
  /** From when on it is another without a change: milliseconds since 1970, `Infinity` where it never is. */
  readonly expireAt: number;
  /** What to watch from now on, where that is something else. */
  readonly watched?: Watched | undefined;
}

/** Milliseconds until an entry is read again that is still there after its time: Deno KV does not say until when. */
const lingerDelay = 1000;

/** So often a state is read for one report at the most, where changes come while it is read. */
const maxReads = 4;

/**
 * A stream of the states of a live query: the present one, then a new one after each change that makes it another. A
 * state is read when somebody asks for it, so that changes which come faster are reported as one. It ends when the
 * database is closed, and errors with what a read throws. While nobody waits for a report it holds no process.
 *
 * What is watched is watched from this call on. A state is read in several steps, and where a change has come between
 * them it is read again before it is reported, unless changes keep coming.
 */
export function liveStream<Report>(kv: Kv, source: LiveSource<Report>): ReadableStream<Report> {
  let { watched } = source;
  let subscription = new Subscription(kv, watched);
  let expireAt = Number.POSITIVE_INFINITY;
  let reported: string | undefined;
  let isDue = true;
  let isCancelled = false;

  function watchAnew(): void {
    subscription.cancel();
    if (!isCancelled) subscription = new Subscription(kv, watched);
  }

  /** Waits until the state may be another; false where there is none any more. */
  async function waitForChange(): Promise<boolean> {
    for (;;) {
      const occasion = await subscription.next(expireAt);
      if (isCancelled || occasion.kind === "end") return false;
      if (occasion.kind === "time") {
        watchAnew();
        return true;
      }
      if (await source.concerns(occasion.change)) return true;
    }
  }

  /** Reads the state. Where it has to be watched in another way, what comes before that is read next time. */
  async function read(): Promise<LiveState<Report>> {
    isDue = false;
    const readAt = Date.now();
    const state = await source.read();
    expireAt = state.expireAt > readAt ? state.expireAt : readAt + lingerDelay;
    if (state.watched !== undefined) {
      watched = state.watched;
      watchAnew();
      isDue = true;
    }
    return state;
  }

  /** Reads the state as it is at one time, where changes do not keep coming. */
  async function readAtOnce(): Promise<LiveState<Report>> {
    for (let reads = 1; ; reads++) {
      const look = await beginLook(kv, watched);
      try {
        const state = await read();
        if (isCancelled || state.stamp === reported || reads === maxReads) return state;
        if (!(await look.hasChanged(source.concerns))) return state;
      } finally {
        look.end();
      }
    }
  }

  /** The next state that is another than the one that was reported last; undefined where there is none any more. */
  async function nextState(): Promise<LiveState<Report> | undefined> {
    for (;;) {
      if (!isDue && !(await waitForChange())) return undefined;
      const state = await readAtOnce();
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

  // Nothing is read ahead: what is reported is the state at the time when somebody asks.
  return new ReadableStream<Report>({ pull, cancel }, { highWaterMark: 0 });
}
