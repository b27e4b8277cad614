import { FrameError } from "../frames.js";
import { keyOf, listOf, malformed, maxWatchedBytes, rangeOf, watchedBytes } from "../messages.js";
import type { BufferedBytes } from "./buffered-bytes.js";
import type { ChangeLog } from "./change-log.js";
import { sliceMilliseconds } from "./read-turns.js";

/** More changed keys of one watch than this are reported as unknown. */
const maxChangedKeys = 1000;
/**
 * The largest number of changed keys that wait for a client, in all its watches. More are reported
 * as unknown.
 */
const maxPendingKeys = 10_000;

interface Watch {
  readonly stop: () => void;
  readonly bytes: number;
  /** Changes that are not sent yet. Undefined if their keys are not known. */
  pending: Uint8Array[] | undefined;
}

export interface WatchReports {
  /** True if the client has not read its reports, so that it gets the next ones later. */
  isSlow(): boolean;
  /** Sends the changed keys of a watch, or null if they are not known. */
  send(id: number, keys: readonly Uint8Array[] | null): void;
}

/** The watches of one client. Its reports are sent in slices of time. */
export class ServedWatches {
  readonly #changes: ChangeLog;
  readonly #watched: BufferedBytes;
  readonly #reports: WatchReports;
  readonly #watches = new Map<number, Watch>();
  /** The watches with changes that are not sent yet. */
  readonly #changed = new Set<number>();
  #bytes = 0;
  #pendingKeys = 0;
  #slice: NodeJS.Immediate | undefined;

  /** @param watched the watches of all clients that share a limit. */
  constructor(changes: ChangeLog, watched: BufferedBytes, reports: WatchReports) {
    this.#changes = changes;
    this.#watched = watched;
    this.#reports = reports;
  }

  /**
   * Begins a watch under a number of the client.
   *
   * @throws {FrameError} if it is not a message of the protocol, or the client watches too much.
   */
  add(call: "watch" | "watchRanges", id: number, places: unknown, since: number): void {
    if (this.#watches.has(id)) throw malformed();
    const list = listOf(places);
    const bytes = watchedBytes(list);
    if (this.#bytes + bytes > maxWatchedBytes || !this.#watched.hasRoom)
      throw new FrameError("the watches of a client take too much memory");
    const keys = call === "watch" ? list.map(keyOf) : undefined;
    const ranges = keys === undefined ? list.map(rangeOf) : [];
    this.#hold(bytes);
    let stop: () => void = () => undefined;
    const watch: Watch = { stop: () => stop(), bytes, pending: [] };
    this.#watches.set(id, watch);
    stop =
      keys === undefined
        ? this.#changes.watchRanges(ranges, since, (keys) => this.#onChange(id, watch, keys))
        : this.#changes.watch(keys, since, () => this.#onChange(id, watch, []));
  }

  remove(id: number): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    this.#watches.delete(id);
    this.#changed.delete(id);
    this.#pendingKeys -= watch.pending?.length ?? 0;
    this.#hold(-watch.bytes);
    watch.stop();
  }

  /** Sends what is not sent yet. Call it when a slow client has read. */
  flush(): void {
    if (this.#changed.size > 0) this.#slice ??= setImmediate(() => this.#send());
  }

  removeAll(): void {
    clearImmediate(this.#slice);
    for (const id of [...this.#watches.keys()]) this.remove(id);
  }

  #hold(bytes: number): void {
    this.#bytes += bytes;
    this.#watched.change(bytes);
  }

  #onChange(id: number, watch: Watch, keys: readonly Uint8Array[] | undefined): void {
    const before = watch.pending?.length ?? 0;
    const isKept =
      keys !== undefined &&
      before + keys.length <= maxChangedKeys &&
      this.#pendingKeys + keys.length <= maxPendingKeys;
    if (watch.pending !== undefined && isKept) {
      watch.pending.push(...keys);
      this.#pendingKeys += keys.length;
    } else {
      this.#pendingKeys -= before;
      watch.pending = undefined;
    }
    this.#changed.add(id);
    // A slow client gets the changes together when it has read what it has.
    if (!this.#reports.isSlow()) this.flush();
  }

  #send(): void {
    this.#slice = undefined;
    const end = performance.now() + sliceMilliseconds;
    for (const id of this.#changed) {
      if (this.#reports.isSlow()) return;
      if (performance.now() >= end) {
        this.flush();
        return;
      }
      const watch = this.#watches.get(id)!;
      const keys = watch.pending ?? null;
      this.#pendingKeys -= keys?.length ?? 0;
      watch.pending = [];
      this.#changed.delete(id);
      this.#reports.send(id, keys);
    }
  }
}
