import { soon } from "../soon.js";

/** Keeps the messages that a handler of a queue is called with. */
export class Inbox {
  readonly messages: unknown[] = [];
  #wake: () => void = () => undefined;

  /** To be called with each message. */
  receive(message: unknown): void {
    this.messages.push(message);
    this.#wake();
  }

  /** Resolves when so many messages have come. */
  async count(count: number): Promise<unknown[]> {
    const arrived = async () => {
      while (this.messages.length < count) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    };
    await soon(`message ${count} of the queue`, arrived());
    return this.messages;
  }
}
