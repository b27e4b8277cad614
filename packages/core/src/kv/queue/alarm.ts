/** The longest wait, in milliseconds: a timer does not notice that the clock was set, or that the machine slept. */
const maxWait = 60_000;

/** Calls a function once at a time of the clock, or before it where that is further away than a minute. */
export class Alarm {
  readonly #onTime: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onTime: () => void) {
    this.#onTime = onTime;
  }

  /** @param time milliseconds since the epoch, in place of the one that was set before. */
  set(time: number): void {
    this.clear();
    const wait = Math.min(Math.max(time - Date.now(), 0), maxWait);
    this.#timer = setTimeout(this.#onTime, wait);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
