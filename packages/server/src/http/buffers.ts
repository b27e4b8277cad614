import { ByteBudget } from "./byte-budget.js";

/** Bytes that a request holds until it releases them. */
export interface HeldBytes {
  /** Corrects an estimate. Does not wait. */
  resize(bytes: number): void;
  release(): void;
}

/**
 * The bytes of bodies or of answers that the server holds: for each connection, so that a client
 * can hold up only itself, and for all together.
 */
export class Buffers {
  readonly #ofConnection = new WeakMap<object, ByteBudget>();
  readonly #all: ByteBudget;
  readonly #perConnection: number;

  constructor(all: number, perConnection: number) {
    this.#all = new ByteBudget(all);
    this.#perConnection = perConnection;
  }

  /** Waits until bytes may be held for a connection. */
  async hold(connection: object, bytes: number): Promise<HeldBytes> {
    let own = this.#ofConnection.get(connection);
    if (own === undefined) {
      own = new ByteBudget(this.#perConnection);
      this.#ofConnection.set(connection, own);
    }
    const budgets = [own, this.#all];
    for (const budget of budgets) {
      const waiting = budget.take(bytes);
      if (waiting !== undefined) await waiting;
    }
    let held = bytes;
    const resize = (to: number) => {
      for (const budget of budgets) budget.give(held - to);
      held = to;
    };
    return { resize, release: () => resize(0) };
  }
}
