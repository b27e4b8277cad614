/** Ticks of silence after which the connection counts as lost, if an answer is due. */
const lostAfter = 6;
/** Ticks of silence, while an answer is due, after which the owner is asked if it is there. */
const askAfter = 2;
/**
 * Ticks without a message to the owner after which it gets one, because it expects signs of life.
 */
const pingAfter = 10;

/** Decides, at each tick of a timer, if the owner is asked for a sign of life, or if it is gone. */
export class Heartbeat {
  /** True if something was received since the last tick. */
  #hasHeard = false;
  #isAsked = false;
  #silence = 0;
  #sinceSent = 0;

  /** Call this when a connection is made. */
  begin(): void {
    this.#isAsked = false;
    this.#silence = 0;
  }

  hear(): void {
    this.#hasHeard = true;
  }

  send(): void {
    this.#sinceSent = 0;
  }

  /** @param isAnswerDue true if a call waits for an answer. */
  tick(isAnswerDue: boolean): { readonly hasHeard: boolean; readonly next?: "ask" | "lose" } {
    const hasHeard = this.#hasHeard;
    this.#hasHeard = false;
    if (hasHeard) this.#isAsked = false;
    this.#silence = !hasHeard && (isAnswerDue || this.#isAsked) ? this.#silence + 1 : 0;
    this.#sinceSent++;
    if (this.#silence >= lostAfter) return { hasHeard, next: "lose" };
    const mustAsk = this.#silence >= askAfter && !this.#isAsked;
    if (!mustAsk && this.#sinceSent < pingAfter) return { hasHeard };
    this.#isAsked = true;
    return { hasHeard, next: "ask" };
  }
}
