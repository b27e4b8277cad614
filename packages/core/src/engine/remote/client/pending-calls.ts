import type { Call } from "../messages.js";

/** A call that ended without an answer. */
export interface Unanswered {
  readonly call: Call;
  /** True if the owner may have received the call. */
  readonly wasSent: boolean;
  /** Milliseconds since the call was made. */
  readonly waited: number;
  /** The state of the owner: no process, a process that is silent, or one that takes too long. */
  readonly owner: "gone" | "silent" | "slow";
}

export interface PendingCall {
  readonly call: Call;
  readonly args: readonly unknown[];
  /** When the request was first sent, in milliseconds since the epoch. */
  firstSentAt: number | undefined;
  /** When the call was made, on the clock of `performance.now()`. */
  readonly madeAt: number;
  /** The ticks since the call was made. */
  age: number;
  /** The ticks since the call was made or the owner was heard. */
  silence: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A timer ticks this often in the patience of a call. Ticks are counted, not milliseconds: a
 * process that was itself stopped or busy first reads what has arrived.
 */
export const ticksOfPatience = 10;
/** Ticks that a call waits after another call has already waited in vain. */
const shortPatience = 2;
/**
 * Ticks that a call may take although the owner is there. A check of all files takes any time, and
 * so does the wait for a turn.
 */
const deadline = 120;
const unlimited: readonly Call[] = ["verifyFiles", "takeTurn"];

/** The calls of a client that have no answer yet, by the number of their request. */
export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>();
  /** Keeps the process alive while a call waits. */
  readonly #timer: NodeJS.Timeout;
  /** True if a call got no answer in time, and the owner was not heard since. */
  #isUnanswered = false;

  /** @param timer does not keep the process alive. */
  constructor(timer: NodeJS.Timeout) {
    this.#timer = timer;
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  entries(): [id: number, call: PendingCall][] {
    return [...this.#calls];
  }

  add(id: number, call: Pick<PendingCall, "call" | "args" | "resolve" | "reject">): PendingCall {
    const silence = this.#isUnanswered ? ticksOfPatience - shortPatience : 0;
    const pending = { ...call, firstSentAt: undefined, madeAt: performance.now(), age: 0, silence };
    if (this.isEmpty) this.#timer.ref();
    this.#calls.set(id, pending);
    return pending;
  }

  /** Returns a call, which is answered or given up now. */
  take(id: number): PendingCall | undefined {
    const pending = this.#calls.get(id);
    this.#calls.delete(id);
    if (this.isEmpty) this.#timer.unref();
    return pending;
  }

  rejectAll(errorOf: (call: PendingCall) => unknown, isMeant = (_: PendingCall) => true): void {
    for (const [id, pending] of this.#calls) {
      if (!isMeant(pending)) continue;
      this.take(id);
      pending.reject(errorOf(pending));
    }
  }

  /**
   * Counts a tick. Calls `giveUp` with each call that has waited for too long.
   *
   * @param hasHeard true if the owner was heard since the tick before.
   */
  tick(hasHeard: boolean, giveUp: (call: PendingCall, owner: "silent" | "slow") => void): void {
    if (hasHeard) this.#isUnanswered = false;
    for (const [id, pending] of this.#calls) {
      pending.age++;
      pending.silence = hasHeard ? 0 : pending.silence + 1;
      const isSilent = pending.silence >= ticksOfPatience;
      const isSlow = pending.age > deadline && !unlimited.includes(pending.call);
      if (!isSilent && !isSlow) continue;
      if (isSilent) this.#isUnanswered = true;
      this.take(id);
      giveUp(pending, isSilent ? "silent" : "slow");
    }
  }
}

export function unanswered(pending: PendingCall, owner: Unanswered["owner"]): Unanswered {
  const { call, firstSentAt, madeAt } = pending;
  const waited = Math.round(performance.now() - madeAt);
  return { call, wasSent: firstSentAt !== undefined, waited, owner };
}
