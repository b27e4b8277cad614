/** For how long the requests of one client run before other work of the process gets its turn. */
export const sliceMilliseconds = 5;
/** The most reads that run at the same time. Each may have an answer of several megabytes. */
const mostAtOnce = 4;

/** Runs the reads of a client a few at a time, and only while the client reads its answers. */
export class ReadTurns {
  readonly #hasRoom: () => boolean;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param hasRoom true if the client has read most of its answers. */
  constructor(hasRoom: () => boolean) {
    this.#hasRoom = hasRoom;
  }

  get running(): number {
    return this.#running;
  }

  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#mayStart()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running++;
    }
    try {
      return await read();
    } finally {
      this.#running--;
    }
  }

  /** Starts reads that wait. Call this after an answer is written, and when the client has read. */
  next(): void {
    while (this.#waiting.length > 0 && this.#mayStart()) {
      this.#running++;
      this.#waiting.shift()?.();
    }
  }

  #mayStart(): boolean {
    return this.#running < mostAtOnce && this.#hasRoom();
  }
}
