import { status } from "@grpc/grpc-js";
import type { CallFailure } from "./call-failure.js";
import { pause, retryDelay } from "./retry-delay.js";

/** The longest time of an attempt while an endpoint is left that has not timed out. */
const firstTime = 1000;
/** Milliseconds that must be left until the deadline for another attempt. */
const shortestAttempt = 20;

/**
 * The attempts of one call: how long each of them may take, and the pauses between them.
 *
 * An attempt takes longer only after each endpoint has timed out. Otherwise a call would wait for a
 * member that was cut off, although other members answer.
 */
export class Attempts {
  readonly #deadline: number;
  readonly #endpoints: number;
  #failures = 0;
  #timeouts = 0;

  /** @param timeout the time of all attempts together, in milliseconds. */
  constructor(timeout: number, endpoints: number) {
    this.#deadline = Date.now() + timeout;
    this.#endpoints = endpoints;
  }

  /** How long the next attempt may take at most, in milliseconds. */
  get time(): number {
    const time = firstTime * 2 ** Math.floor(this.#timeouts / this.#endpoints);
    return Math.max(Math.min(time, this.#deadline - Date.now()), 1);
  }

  get areOver(): boolean {
    return Date.now() > this.#deadline;
  }

  /**
   * Waits before the next attempt. Returns false at once if no time is left for one. The last
   * pauses are shorter, so that the attempts continue until the deadline.
   */
  async pauseAfter({ code }: CallFailure): Promise<boolean> {
    const delay = retryDelay(this.#failures++);
    if (code === status.DEADLINE_EXCEEDED) this.#timeouts++;
    const left = this.#deadline - Date.now();
    if (left < shortestAttempt) return false;
    await pause(Math.min(delay, left / 2));
    return true;
  }

  /** Forgets the failures, because an endpoint has answered. */
  answered(): void {
    this.#failures = 0;
    this.#timeouts = 0;
  }
}
