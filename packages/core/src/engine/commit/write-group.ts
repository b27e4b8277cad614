import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { appendVersionstampPart } from "../../keys/encode-key.js";
import { formatVersionstamp } from "../../values/versionstamp.js";
import {
  type AtomicWrite,
  type DeleteExpired,
  hasExpired,
  type StoredEntry,
  type StoredMutation,
  type WriteOutcome,
} from "../engine.js";
import { isLoggedKey, logRecordKey } from "../log/log-keys.js";
import { encodeLogRecord } from "../log/log-record.js";
import { LoggedChanges } from "../log/logged-changes.js";
import { combineU64 } from "./combine-u64.js";
import type { RecentCommits } from "./recent-commits.js";

/** A record to store under a key, or undefined to delete the key. */
export interface RecordMutation<Stored = Uint8Array> {
  readonly key: Uint8Array;
  /** The text of the key, as `textOfBytes` returns it. */
  readonly text: string;
  readonly record: Stored | undefined;
}

export interface WriteGroupOptions<Stored = Uint8Array> {
  readonly sequence: number;
  /** Milliseconds since the epoch. An entry that expires at or before this time does not exist. */
  readonly now: number;
  /** Reads the entry of a key as it was before the group, even if it has expired. It may throw. */
  readonly read: (key: Uint8Array, text: string) => StoredEntry | undefined;
  /** Returns what the database stores for an entry. It may throw. */
  readonly recordOf: (entry: StoredEntry) => Stored;
  readonly versions: CheckedVersions;
  readonly recent: RecentCommits;
  /** True if the database copies its input. Keys may then be parts of shared memory. */
  readonly copiesWrites: boolean;
}

/** After how many mutations of a commit other work of the process gets its turn. */
export const mutationsPerTurn = 2000;

/** The same of range checks. */
const checksPerTurn = 200;

/** The state of a key after the writes so far: its entry, or null if there is none. */
type KeyState = StoredEntry | null;

export class WriteGroup<Stored = Uint8Array> {
  readonly mutations: RecordMutation<Stored>[] = [];
  last: string | undefined;
  readonly #options: WriteGroupOptions<Stored>;
  readonly #states = new Map<string, KeyState>();
  #order = 0;
  #mutated = 0;
  /** The keys whose states the write has changed, and their states before, in this order. */
  readonly #undoTexts: string[] = [];
  readonly #undoStates: (KeyState | undefined)[] = [];
  /** The keys of entries that the write has set or deleted. */
  readonly #changed: Uint8Array[] = [];
  /** Undefined if the write is not logged. */
  #logged: LoggedChanges | undefined;

  constructor(options: WriteGroupOptions<Stored>) {
    this.#options = options;
  }

  /** Adds all of a write if its checks hold. Adds nothing if a check or the write itself fails. */
  apply(write: AtomicWrite): WriteOutcome {
    const steps = this.applyInSteps(write);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  /**
   * Does the same in steps, so that other work of the process can run during a large write. The
   * state of the database must not change until the last step.
   */
  *applyInSteps(write: AtomicWrite): Generator<undefined, WriteOutcome> {
    const { length } = this.mutations;
    this.#undoTexts.length = 0;
    this.#undoStates.length = 0;
    this.#changed.length = 0;
    const { recent, now } = this.#options;
    this.#logged = write.log && new LoggedChanges(now);
    try {
      for (const { key, versionstamp } of write.checks) {
        if (this.#versionstampOf(key) !== versionstamp) return null;
      }
      let checked = 0;
      for (const check of write.rangeChecks ?? []) {
        if (!recent.holds(check)) return null;
        if (++checked % checksPerTurn === 0) yield;
      }
      const versionstamp = formatVersionstamp(this.#options.sequence, this.#order);
      for (const mutation of write.mutations) {
        this.#mutate(mutation, versionstamp);
        if (++this.#mutated % mutationsPerTurn === 0) yield;
      }
      const logged = this.#addLogRecord(write, versionstamp);
      this.#order++;
      this.last = versionstamp;
      recent.add(versionstamp, this.#changed);
      if (logged > 0) write.log?.onLogged(logged);
      return versionstamp;
    } catch (error) {
      // Nothing has been written yet, so the group continues with its other writes.
      this.mutations.length = length;
      for (let i = this.#undoTexts.length - 1; i >= 0; i--) {
        this.#restore(this.#undoTexts[i]!, this.#undoStates[i]);
      }
      return error as Error;
    }
  }

  #mutate(mutation: StoredMutation, versionstamp: string): void {
    const { type, key } = mutation;
    if (type === "set") {
      const { value, expireAt, endsInVersionstamp } = mutation;
      const fullKey = endsInVersionstamp ? appendVersionstampPart(key, versionstamp) : key;
      this.#change(fullKey, { key: fullKey, value, versionstamp, expireAt });
    } else if (type === "delete") {
      this.#change(key, null);
    } else if (type === "deleteExpired") {
      this.#deleteExpired(mutation);
    } else {
      const value = combineU64(mutation, this.#entry(key));
      this.#change(key, { key, value, versionstamp, expireAt: undefined });
    }
  }

  #deleteExpired({ key, hint }: DeleteExpired): void {
    const stored = this.#stored(key);
    const expires = stored?.expireAt !== undefined;
    const isOver = stored !== null && hasExpired(stored, this.#options.now);
    // This is no change for range checks: the entry was absent for readers since it expired.
    if (isOver) this.#change(key, null, false);
    // If the clock was set back, the entry has not expired yet, and its hint is still needed.
    const isNeeded = hint !== undefined && expires && !isOver && stored.expireAt <= hint.dueAt;
    if (hint !== undefined && !isNeeded) this.#change(hint.key, null);
  }

  /** Adds the record of the write to the log. Returns its bytes, or 0 if there is none. */
  #addLogRecord({ log, context }: AtomicWrite, versionstamp: string): number {
    const changes = this.#logged?.take() ?? [];
    this.#logged = undefined;
    if (log === undefined || changes.length === 0) return 0;
    const key = logRecordKey(versionstamp);
    const value = encodeLogRecord(log.time, changes, context);
    this.#change(key, { key, value, versionstamp, expireAt: undefined });
    return key.length + value.length;
  }

  #change(key: Uint8Array, state: KeyState, isChange = key[0] !== 0): void {
    const text = textOfBytes(key);
    if (isChange) this.#changed.push(key);
    if (this.#logged !== undefined && isLoggedKey(key)) {
      const isExpiry = state === null && !isChange && key[0] !== 0;
      const type = state !== null ? "set" : isExpiry ? "expire" : "delete";
      this.#logged.add(type, text, key, [this.#stored(key, text), state]);
    }
    this.#undoTexts.push(text);
    this.#undoStates.push(this.#states.get(text));
    this.#states.set(text, state);
    this.#options.versions.forget(text);
    const { copiesWrites, recordOf } = this.#options;
    const kept = copiesWrites ? key : new Uint8Array(key);
    this.mutations.push({ key: kept, text, record: state === null ? undefined : recordOf(state) });
  }

  #versionstampOf(key: Uint8Array): string | null {
    const { versions, now } = this.#options;
    const text = textOfBytes(key);
    const known = this.#states.get(text);
    let version: EntryVersion | null | undefined = known === undefined ? versions.get(text) : known;
    if (version === undefined) {
      version = this.#stored(key, text);
      if (version !== null) versions.add(text, version);
    }
    return version === null || hasExpired(version, now) ? null : version.versionstamp;
  }

  #entry(key: Uint8Array): StoredEntry | undefined {
    const stored = this.#stored(key);
    return stored === null || hasExpired(stored, this.#options.now) ? undefined : stored;
  }

  #stored(key: Uint8Array, text: string = textOfBytes(key)): KeyState {
    const known = this.#states.get(text);
    if (known !== undefined) return known;
    const state = this.#options.read(key, text) ?? null;
    this.#states.set(text, state);
    return state;
  }

  #restore(text: string, state: KeyState | undefined): void {
    if (state === undefined) this.#states.delete(text);
    else this.#states.set(text, state);
  }
}

export function dependsOnStored({ type }: StoredMutation): boolean {
  return type !== "set" && type !== "delete";
}

export type EntryVersion = Pick<StoredEntry, "versionstamp" | "expireAt">;

const most = 1024;

/**
 * The versions of entries that checks have read and that no commit has changed since, by the texts
 * of their keys. So a key that every commit checks is read from the database only once.
 */
export class CheckedVersions {
  readonly #versions = new Map<string, EntryVersion>();

  get(text: string): EntryVersion | undefined {
    return this.#versions.get(text);
  }

  add(text: string, { versionstamp, expireAt }: EntryVersion): void {
    // Finding the oldest version would take longer than reading again those that are still used.
    if (this.#versions.size === most) this.#versions.clear();
    this.#versions.set(text, { versionstamp, expireAt });
  }

  forget(text: string): void {
    this.#versions.delete(text);
  }
}
