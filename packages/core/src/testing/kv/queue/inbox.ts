import { soon } from "../../soon.js";

/** Collects the messages that a queue handler receives. */
export class Inbox {
  readonly messages: unknown[] = [];
  #wake: () => void = () => undefined;

  receive(message: unknown): void {
    this.messages.push(message);
    this.#wake();
  }

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
