import type { BufferedBytes } from "@keywright/core/serve";
import { ByteBudget } from "./byte-budget.js";

/** Bytes that a request holds until it releases them. */
export interface HeldBytes {
  /** Corrects an estimate. Does not wait. */
  resize(bytes: number): void;
  release(): void;
}

/** The bytes that the requests of a connection hold, so that a client holds up its own requests. */
export class Buffers {
  readonly #ofConnection = new WeakMap<object, ByteBudget>();
  readonly #perConnection: number;

  constructor(perConnection: number) {
    this.#perConnection = perConnection;
  }

  /**
   * Waits until bytes may be held for a connection.
   *
   * @param shared the bytes of all connections that share a limit, if these count there too.
   */
  async hold(connection: object, bytes: number, shared?: BufferedBytes): Promise<HeldBytes> {
    let own = this.#ofConnection.get(connection);
    if (own === undefined) {
      own = new ByteBudget(this.#perConnection);
      this.#ofConnection.set(connection, own);
    }
    const waiting = own.take(bytes);
    if (waiting !== undefined) await waiting;
    while (shared?.hasRoom === false)
      await new Promise<void>((resolve) => shared.whenRoom(resolve));
    shared?.change(bytes);
    let held = bytes;
    const resize = (to: number) => {
      own.give(held - to);
      shared?.change(to - held);
      held = to;
    };
    return { resize, release: () => resize(0) };
  }
}
