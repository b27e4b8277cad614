import type { Engine, QueueListener } from "../../engine/engine.js";
import { decodeValue } from "../../values/decode-value.js";
import type { QueueHandler } from "../kv.js";
import { reportError } from "./report-error.js";

/** The queue of a database that another process owns, which delivers the messages. */
export class RemoteMessages {
  readonly #listen: NonNullable<Engine["listen"]>;

  constructor(listen: NonNullable<Engine["listen"]>) {
    this.#listen = listen;
  }

  listen(handler: QueueHandler, sync: boolean): QueueListener {
    return this.#listen(async (value) => {
      try {
        await handler(decodeValue(value));
      } catch (error) {
        reportError("Exception in queue handler", error);
        throw error;
      }
    }, sync);
  }
}
