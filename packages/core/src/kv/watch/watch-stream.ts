import type { KvEntryMaybe } from "../kv.js";
import { type ReportSource, reportStream } from "./report-stream.js";
import type { Open } from "./watch.js";

/** Milliseconds to the next read of an entry that should have expired. */
const patience = 50;

type Entries = KvEntryMaybe<unknown>[];

export interface WatchSource extends Pick<ReportSource<Entries>, "subscribe"> {
  /** Reads the keys from one snapshot. */
  read(): Promise<Entries>;
  readonly open: Open;
}

/**
 * Returns a stream of the latest state of keys.
 *
 * @param isRaw true to report changes even if no versionstamp is new.
 */
export function watchStream(source: WatchSource, isRaw: boolean): ReadableStream<Entries> {
  let reported: (string | null)[] | undefined;
  // No commit announces an expiry.
  let expireAt = Number.POSITIVE_INFINITY;
  const next = async () => {
    const entries = await source.read();
    const versionstamps = entries.map((entry) => entry.versionstamp);
    const isNews = versionstamps.some((each, index) => each !== reported?.[index]);
    reported = versionstamps;
    expireAt = firstExpiry(entries);
    // The clock of a server may be behind this one. Then the entry still exists for a moment.
    if (expireAt <= Date.now()) expireAt = Date.now() + patience;
    return isNews || isRaw ? entries : undefined;
  };
  return reportStream({ next, dueAt: () => expireAt, subscribe: source.subscribe }, source.open);
}

function firstExpiry(entries: readonly KvEntryMaybe<unknown>[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const expireAt = entry.versionstamp === null ? undefined : entry.expireAt;
    if (expireAt !== undefined && expireAt < first) first = expireAt;
  }
  return first;
}
