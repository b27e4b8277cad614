import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import type {
  AtomicWrite,
  Engine,
  RangeRead,
  StoredEntry,
  StoredMutation,
  WriteOutcome,
} from "@keywright/core";
import {
  appendVersionstampPart,
  ChangeWatchers,
  combineU64,
  formatVersionstamp,
  hasExpired,
  visibleRange,
} from "@keywright/core/engine";

/** The requests of some calls, as over a network. */
export interface Trips {
  /** How often the caller waits for answers: requests that are in flight together count once. */
  depth: number;
  /** The number of requests. */
  requests: number;
  /** The maximum number of requests that are in flight together. */
  together: number;
}

/** Turns of the event loop without a new request after which a caller only waits for answers. */
const idleTurns = 4;

/**
 * An engine in memory that answers as one over a network does: later than it was asked, and all
 * requests that are in flight at the same time. It counts them.
 */
export class CountedEngine implements Engine {
  readonly limits = {};
  readonly isShared = true;
  readonly #entries = new Map<string, StoredEntry>();
  readonly #watchers = new ChangeWatchers();
  #sequence = 0;
  #inFlight: (() => void)[] = [];
  #trips: Trips = { depth: 0, requests: 0, together: 0 };

  get(key: Uint8Array): Promise<StoredEntry | undefined> {
    return this.#request(() => this.#entry(key));
  }

  getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    return this.#request(() => keys.map((key) => this.#entry(key)));
  }

  getRange({ range, limit, reverse }: RangeRead): Promise<StoredEntry[]> {
    return this.#request(() => {
      const visible = visibleRange(range);
      const [start, end] = [textOf(visible.start), textOf(visible.end)];
      const found = [...this.#entries.keys()].filter((key) => key >= start && key < end).sort();
      if (reverse) found.reverse();
      const entries = found.map((key) => this.#entry(Buffer.from(key, "latin1")));
      return entries.filter((entry) => entry !== undefined).slice(0, limit);
    });
  }

  commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    return this.#request(() => {
      this.#sequence++;
      return writes.map((write, order) =>
        this.#apply(write, formatVersionstamp(this.#sequence, order)),
      );
    });
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watchers.watch(keys, onChange);
  }

  watchRanges(...[ranges, onChange]: Parameters<Engine["watchRanges"]>): () => void {
    return this.#watchers.watchRanges(ranges, onChange);
  }

  async close(): Promise<void> {}

  /** Runs a call, and returns what it costs. */
  async tripsOf(call: () => PromiseLike<unknown>): Promise<Trips> {
    const trips = { depth: 0, requests: 0, together: 0 };
    this.#trips = trips;
    await call();
    return trips;
  }

  #request<T>(answer: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.#trips.requests++;
      this.#inFlight.push(() => resolve(answer()));
      this.#trips.together = Math.max(this.#trips.together, this.#inFlight.length);
      if (this.#inFlight.length === 1) void this.#answerWhenIdle();
    });
  }

  async #answerWhenIdle(): Promise<void> {
    let known = 0;
    for (let turns = 0; turns < idleTurns; turns++) {
      if (this.#inFlight.length > known) turns = 0;
      known = this.#inFlight.length;
      await setImmediate();
    }
    this.#trips.depth++;
    const answers = this.#inFlight;
    this.#inFlight = [];
    for (const answer of answers) answer();
  }

  #entry(key: Uint8Array): StoredEntry | undefined {
    const entry = this.#entries.get(textOf(key));
    return entry === undefined || hasExpired(entry, Date.now()) ? undefined : entry;
  }

  #apply({ checks, mutations }: AtomicWrite, versionstamp: string): WriteOutcome {
    const holds = checks.every(
      (check) => (this.#entry(check.key)?.versionstamp ?? null) === check.versionstamp,
    );
    if (!holds) return null;
    const changed: { key: Uint8Array }[] = [];
    for (const mutation of mutations) {
      const key =
        mutation.type === "set" && mutation.endsInVersionstamp
          ? appendVersionstampPart(mutation.key, versionstamp)
          : mutation.key;
      const value = this.#valueOf(mutation);
      changed.push({ key });
      if (value === undefined) this.#entries.delete(textOf(key));
      else {
        const expireAt = mutation.type === "set" ? mutation.expireAt : this.#entry(key)?.expireAt;
        this.#entries.set(textOf(key), { key, value, versionstamp, expireAt });
      }
    }
    this.#watchers.notify(changed);
    return versionstamp;
  }

  /** Returns the value after a mutation; undefined if the entry is removed. */
  #valueOf(mutation: StoredMutation): Uint8Array | undefined {
    switch (mutation.type) {
      case "set":
        return mutation.value;
      case "delete":
        return undefined;
      case "deleteExpired":
        return this.#entry(mutation.key)?.value;
      default:
        return combineU64(mutation, this.#entry(mutation.key));
    }
  }
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");
}
