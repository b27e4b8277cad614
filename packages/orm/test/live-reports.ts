/**
 * Milliseconds. Longer than anything takes that a test waits for, also on a busy machine, and
 * shorter than the test runner's patience.
 */
const longest = 60_000;

/** A reader of a live query that does not wait for ever. */
export class Reports<T> {
  readonly #reader: ReadableStreamDefaultReader<T>;

  constructor(stream: ReadableStream<T>) {
    this.#reader = stream.getReader();
  }

  /** The next report; "the end" where the stream has ended. */
  async next(): Promise<T | "the end"> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("waited in vain for a report")), longest);
    });
    try {
      const { done, value } = await Promise.race([this.#reader.read(), late]);
      return done ? "the end" : value;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The first report, from the next one on, for which a test holds. */
  async nextThat(holds: (report: T) => boolean): Promise<T> {
    for (;;) {
      const report = await this.next();
      if (report === "the end") throw new Error("the stream has ended");
      if (holds(report)) return report;
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}
