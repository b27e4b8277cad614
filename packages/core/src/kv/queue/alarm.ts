/** Milliseconds. Short, because a timer does not notice a new time or that the machine slept. */
const maxWait = 60_000;

/** Calls a function once at a time of the clock, or after one minute if that is earlier. */
export class Alarm {
  readonly #onTime: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onTime: () => void) {
    this.#onTime = onTime;
  }

  /** @param time milliseconds since the epoch. Replaces the time that was set before. */
  set(time: number): void {
    this.clear();
    const wait = Math.min(Math.max(time - Date.now(), 0), maxWait);
    this.#timer = setTimeout(this.#onTime, wait);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
