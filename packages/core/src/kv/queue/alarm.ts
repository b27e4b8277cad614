/** Milliseconds. Short, because a timer does not notice a new time or that the machine slept. */
const maxWait = 60_000;

/** Calls a function once at a time of the clock, or after one minute if that is earlier. */
export class Alarm {
  readonly #onTime: () => void;
  #timer: NodeJS.Timeout | undefined;
  #time = Number.POSITIVE_INFINITY;

  constructor(onTime: () => void) {
    this.#onTime = onTime;
  }

  /** @param time milliseconds since the epoch. Replaces the time that was set before. */
  set(time: number): void {
    this.clear();
    this.#time = time;
    const wait = Math.min(Math.max(time - Date.now(), 0), maxWait);
    this.#timer = setTimeout(this.#onTime, wait);
  }

  /** Sets the time if it is earlier than the one that was set before. */
  setEarlier(time: number): void {
    if (time < this.#time) this.set(time);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#time = Number.POSITIVE_INFINITY;
  }
}
