import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { StoredEntry, StoredMutation } from "../../engine/engine.js";
import type { LoggedChange, LogRecord } from "../../engine/log/log-record.js";
import { MoveFailedError } from "../../errors/copy-errors.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";
import { itemOf, writeAll } from "../backup/restore/restore.js";
import { RestoreTarget } from "../backup/restore/restore-target.js";
import type { SortedItems } from "../backup/restore/sorted-items.js";
import { expiryHint } from "../expiry/expiry-hint.js";
import { moveValue } from "../open/marks/restore-mark.js";
import type { SharedEngine } from "../open/shared-engine.js";
import { isKeyOfMove, positionKey } from "./own-keys.js";

/**
 * Commits with more bytes together are not written as one. A server refuses large requests, and
 * other work of this process and of the target waits for a write.
 */
const mostJoinedBytes = 1024 * 1024;
/** What a mutation takes besides its key and value, at most. */
const mutationBytes = 32;

/** What the target says of a move: its id, the log of the source, and whether it is complete. */
export interface TargetMark {
  readonly id: string;
  readonly log: string;
  /** True if the target has all commits of the source, which may have been told so. */
  readonly isComplete: boolean;
}

/** The database into which another one is moved. */
export class MoveTarget {
  readonly #shared: SharedEngine;
  readonly #writer: RestoreTarget;
  #mark: TargetMark | undefined;
  /** The mutations of the commits that are written next, in their order, by the texts of keys. */
  readonly #joined = new Map<string, StoredMutation[]>();
  /** How many mutations these commits had. */
  #count = 0;
  /** The bytes of these mutations. */
  #bytes = 0;
  /** The versionstamp of the last of them in the source. */
  #position: string | undefined;

  constructor(shared: SharedEngine) {
    this.#shared = shared;
    const errorOf = (reason: string) => new MoveFailedError(`the target cannot be used: ${reason}`);
    this.#writer = new RestoreTarget(shared, { errorOf });
  }

  get engine(): SharedEngine["engine"] {
    return this.#shared.engine;
  }

  /** Returns what an interrupted move has left, and the mark that has it. */
  async remains(): Promise<
    { readonly stored: StoredEntry; readonly mark: TargetMark } | undefined
  > {
    const stored = await this.#writer.mark();
    if (stored === undefined) return undefined;
    const value = decodeValue(stored.value);
    if (!Array.isArray(value) || value[0] !== moveValue) return undefined;
    const [, id, log, isComplete] = value as [string, string, string, boolean];
    return { stored, mark: { id, log, isComplete } };
  }

  /** Returns the versionstamp of the last commit that was copied, if all entries were. */
  async position(): Promise<string | undefined> {
    const entry = await this.engine.get(positionKey);
    return entry && String(decodeValue(entry.value));
  }

  /** Begins a move into an empty database. Removes what an interrupted one has left. */
  async begin(mark: TargetMark): Promise<void> {
    this.#mark = mark;
    await this.#writer.begin(encodeMark(mark));
  }

  /** Continues an interrupted move. */
  async continueFrom(stored: StoredEntry, mark: TargetMark): Promise<void> {
    this.#mark = mark;
    await this.#writer.continueFrom(stored);
  }

  /**
   * Writes the entries of one state, in the order of the commits that wrote them.
   *
   * @param position that of the state in the log.
   */
  async write(
    sorted: SortedItems,
    position: string,
    signal: AbortSignal | undefined,
    onWritten: (entries: number) => void,
  ): Promise<void> {
    await writeAll(sorted, this.#writer, signal, onWritten);
    await this.#writer.addMutations([setPosition(position)], undefined);
    await this.#writer.flush();
  }

  /**
   * Adds a commit of the source. Call `flush` after several of them.
   *
   * Commits that follow each other are written as one, with what remains of a key that several of
   * them change: on some engines, two commits of one key take a round trip each. Unless the target
   * keeps a log, which has the commits as they were.
   */
  async add({ changes, versionstamp, context }: LogRecord): Promise<void> {
    const mutations = changes.flatMap(mutationsOf);
    const bytes = sum(mutations.map(bytesOf));
    const { mutations: most, totalMutationBytes } = this.#writer.limits;
    const mostBytes = Math.min(totalMutationBytes, mostJoinedBytes);
    const isFull = this.#count + mutations.length >= most || this.#bytes + bytes > mostBytes;
    if (isFull) await this.#writeJoined();
    for (const mutation of mutations) {
      const text = textOfBytes(mutation.key);
      const earlier = this.#joined.get(text);
      if (earlier === undefined || mutation.type === "set" || mutation.type === "delete")
        this.#joined.set(text, [mutation]);
      else earlier.push(mutation);
    }
    this.#count += mutations.length;
    this.#bytes += bytes;
    this.#position = versionstamp;
    if (this.#writer.isLogged) await this.#writeJoined(context);
  }

  async flush(): Promise<void> {
    await this.#writeJoined();
    await this.#writer.flush();
  }

  async #writeJoined(context?: Uint8Array): Promise<void> {
    if (this.#position === undefined) return;
    const mutations = [...this.#joined.values()].flat();
    const position = setPosition(this.#position);
    this.#joined.clear();
    this.#count = 0;
    this.#bytes = 0;
    this.#position = undefined;
    await this.#writer.addMutations([...mutations, position], context);
  }

  /** Stores an entry as the source has it, or removes it. */
  async correct(key: Uint8Array, entry: StoredEntry | undefined): Promise<void> {
    const mutation: StoredMutation =
      entry === undefined ? { type: "delete", key } : { type: "set", key, value: entry.value };
    await this.#writer.addMutations([mutation], undefined);
    await this.#writer.flush();
  }

  /** Says that nothing is missing. Until the end, the database still cannot be opened. */
  async complete(): Promise<void> {
    this.#mark = { ...this.#mark!, isComplete: true };
    await this.#writer.replaceMark(encodeMark(this.#mark));
  }

  /** Lets programs open the database. */
  async end(): Promise<void> {
    await this.#writer.end([positionKey]);
  }
}

/** Collects entries in the order of their commits. */
export function addSorted(sorted: SortedItems, entry: StoredEntry): void {
  sorted.add(itemOf(entry));
}

/** Returns the mutations that repeat a change in the target. */
function mutationsOf({ type, key, after, operand }: LoggedChange): StoredMutation[] {
  if (isKeyOfMove(textOfBytes(key), key)) return [];
  if (type === "delete" || type === "expire") return [{ type: "delete", key }];
  if (type !== "set") return [{ type, key, operand: operand! }];
  const { value, expireAt } = after!;
  if (expireAt === undefined) return [{ type, key, value }];
  const set = { type, key, value, expireAt };
  return [set, expiryHint(set, Date.now())];
}

function bytesOf(mutation: StoredMutation): number {
  const { key, type } = mutation;
  return mutationBytes + key.length + (type === "set" ? mutation.value.length : 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function setPosition(versionstamp: string): StoredMutation {
  return { type: "set", key: positionKey, value: encodeValue(versionstamp) };
}

function encodeMark({ id, log, isComplete }: TargetMark): Uint8Array {
  return encodeValue([moveValue, id, log, isComplete]);
}
