/** The longest time a timer can wait, in milliseconds: about 25 days. */
const maxWait = 2 ** 31 - 1;

/** Calls a function once at a time of the clock, or before it where that is further away than a timer can wait. */
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
