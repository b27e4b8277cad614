import { BufferedBytes } from "@keywright/core/serve";
import { RequestError } from "./request-error.js";

/** The most bytes that the watches of `openKv(url)` with one token take. */
const maxWatchedBytes = 64 * 1024 * 1024;
/** The most watches of KV Connect with one token. */
const maxWatches = 10_000;

/** What the server holds for all clients. */
export interface ServerUse {
  readonly bodies: BufferedBytes;
  readonly answers: BufferedBytes;
}

/** What the server holds for the clients with one token: at most half of what it holds for all. */
export class TokenUse {
  readonly bodies: BufferedBytes;
  readonly answers: BufferedBytes;
  readonly watched: BufferedBytes = new BufferedBytes(maxWatchedBytes);
  #watches = 0;

  /** @param maxBufferedBytes the most bytes of bodies, and of answers, of all clients. */
  constructor(maxBufferedBytes: number, { bodies, answers }: ServerUse) {
    this.bodies = new BufferedBytes(maxBufferedBytes / 2, bodies);
    this.answers = new BufferedBytes(maxBufferedBytes / 2, answers);
  }

  /**
   * Counts a watch of KV Connect.
   *
   * @returns a function that ends it.
   * @throws {RequestError} if there are too many. Clients try it again.
   */
  beginWatch(): () => void {
    if (this.#watches >= maxWatches)
      throw new RequestError(503, `The clients with this token have ${maxWatches} watches.`);
    this.#watches++;
    return () => {
      this.#watches--;
    };
  }
}
