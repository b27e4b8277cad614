/** Random numbers that follow from a seed, so that a failure can be repeated. */
export class Random {
  #state;

  /** @param seed an integer. Only its lowest 32 bits count. */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** Returns a number of at least 0 and less than 1 (the generator mulberry32). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to `end`, exclusive. */
  below(end) {
    return Math.floor(this.next() * end);
  }

  /** Returns one of the choices. */
  pick(choices) {
    return choices[this.below(choices.length)];
  }
}
