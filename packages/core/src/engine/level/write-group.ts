import { Buffer } from "node:buffer";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { appendVersionstampPart } from "../../keys/encode-key.js";
import { formatVersionstamp } from "../../values/versionstamp.js";
import { combineU64 } from "../combine-u64.js";
import type {
  AtomicWrite,
  DeleteExpired,
  StoredEntry,
  StoredMutation,
  WriteOutcome,
} from "../engine.js";
import { hasExpired } from "../has-expired.js";
import type { CheckedVersions, EntryVersion } from "./checked-versions.js";
import { encodeRecord, recordSize } from "./record.js";

/** A record to store under a key; undefined to remove the one that is there. */
export interface RecordMutation {
  readonly key: Uint8Array;
  readonly record: Uint8Array | undefined;
}

export interface WriteGroupOptions {
  readonly sequence: number;
  /** Milliseconds since the epoch: an entry that expires then or before is not there. */
  readonly now: number;
  /** Reads the record of a key as it was before the group, expired ones too. It may throw. */
  readonly read: (key: Uint8Array) => StoredEntry | undefined;
  /** Of the groups before this one, and of those after it. */
  readonly versions: CheckedVersions;
  /** The database copies what it is given: keys and records may be stretches of memory that is shared. */
  readonly copiesWrites: boolean;
}

/** What a key has come to be: its entry, or null where there is none. */
type KeyState = StoredEntry | null;

/** The writes of one group so far: what LevelDB has to do, and what the keys have come to be. */
export class WriteGroup {
  readonly mutations: RecordMutation[] = [];
  /** The versionstamp of the last write that was applied, undefined where none was. */
  last: string | undefined;
  readonly #options: WriteGroupOptions;
  readonly #states = new Map<string, KeyState>();
  #order = 0;
  /** What the keys were before the write that is being added. */
  #undo: [text: string, state: KeyState | undefined][] = [];

  constructor(options: WriteGroupOptions) {
    this.#options = options;
  }

  /** Adds a write, where its checks hold: all of it, or nothing. */
  apply(write: AtomicWrite): WriteOutcome {
    const { length } = this.mutations;
    this.#undo = [];
    try {
      for (const { key, versionstamp } of write.checks) {
        if (this.#versionstampOf(key) !== versionstamp) return null;
      }
      const versionstamp = formatVersionstamp(this.#options.sequence, this.#order);
      for (const mutation of write.mutations) this.#mutate(mutation, versionstamp);
      this.#order++;
      this.last = versionstamp;
      return versionstamp;
    } catch (error) {
      // Nothing has been written yet: the other writes of the group go on.
      this.mutations.length = length;
      for (const [text, state] of this.#undo.reverse()) this.#restore(text, state);
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
    if (isOver) this.#change(key, null);
    // Where the clock was set back, the hint is needed again.
    const isNeeded = hint !== undefined && expires && !isOver && stored.expireAt <= hint.dueAt;
    if (hint !== undefined && !isNeeded) this.#change(hint.key, null);
  }

  #change(key: Uint8Array, state: KeyState): void {
    const text = textOfBytes(key);
    this.#undo.push([text, this.#states.get(text)]);
    this.#states.set(text, state);
    this.#options.versions.forget(text);
    this.mutations.push({
      key: this.#options.copiesWrites ? key : new Uint8Array(key),
      record: state === null ? undefined : this.#record(state),
    });
  }

  #record(entry: StoredEntry): Uint8Array {
    const size = recordSize(entry);
    const record = this.#options.copiesWrites ? Buffer.allocUnsafe(size) : new Uint8Array(size);
    encodeRecord(entry, record);
    return record;
  }

  /** What a check compares: null where there is no entry. */
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
    const state = this.#options.read(key) ?? null;
    this.#states.set(text, state);
    return state;
  }

  #restore(text: string, state: KeyState | undefined): void {
    if (state === undefined) this.#states.delete(text);
    else this.#states.set(text, state);
  }
}

/** Whether what a mutation does depends on what is stored under its key. */
export function dependsOnStored({ type }: StoredMutation): boolean {
  return type !== "set" && type !== "delete";
}
