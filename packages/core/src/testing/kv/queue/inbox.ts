import { soon } from "../../soon.js";

/** Collects the messages that a queue handler receives. */
export class Inbox {
  readonly messages: unknown[] = [];
  #wake: () => void = () => undefined;

  /** Adds a message. A queue handler must call it for each message. */
  receive(message: unknown): void {
    this.messages.push(message);
    this.#wake();
  }

  /** Returns the messages after `count` of them have arrived. */
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
