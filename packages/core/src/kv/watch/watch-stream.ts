import type { KvEntryMaybe } from "../kv.js";
import { ReportStream } from "./report-stream.js";

export interface WatchSource {
  /** Reads the keys from one snapshot. */
  read(): Promise<KvEntryMaybe<unknown>[]>;
  /** Calls `onChange` after each commit that changed a key. The returned function ends that. */
  subscribe(onChange: () => void): () => void;
  /** Called when the stream has ended, for any reason. */
  onEnd(): void;
}

/** A stream of the latest state of some keys. `end()` closes it. */
export class WatchStream {
  readonly #reports: ReportStream<KvEntryMaybe<unknown>[]>;
  readonly #source: WatchSource;
  readonly #isRaw: boolean;
  /** The versionstamps that were reported last. */
  #reported: (string | null)[] | undefined;
  /** The time at which the first of the reported entries expires. No commit announces an expiry. */
  #expireAt = Number.POSITIVE_INFINITY;

  constructor(source: WatchSource, isRaw: boolean) {
    this.#source = source;
    this.#isRaw = isRaw;
    this.#reports = new ReportStream({
      next: () => this.#next(),
      dueAt: () => this.#expireAt,
      subscribe: (onChange) => source.subscribe(onChange),
      onEnd: () => source.onEnd(),
    });
  }

  get stream(): ReadableStream<KvEntryMaybe<unknown>[]> {
    return this.#reports.stream;
  }

  /** Closes the stream, even if a read is pending. */
  end(): void {
    this.#reports.end();
  }

  /** Reads the keys. Returns undefined if no versionstamp is new and the stream is not raw. */
  async #next(): Promise<KvEntryMaybe<unknown>[] | undefined> {
    const entries = await this.#source.read();
    const versionstamps = entries.map((entry) => entry.versionstamp);
    const isNews = versionstamps.some((each, index) => each !== this.#reported?.[index]);
    this.#reported = versionstamps;
    this.#expireAt = firstExpiry(entries);
    return isNews || this.#isRaw ? entries : undefined;
  }
}

function firstExpiry(entries: readonly KvEntryMaybe<unknown>[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const expireAt = entry.versionstamp === null ? undefined : entry.expireAt;
    if (expireAt !== undefined && expireAt < first) first = expireAt;
  }
  return first;
}
