import { compareBytes } from "../../bytes/compare-bytes.js";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import {
  hasExpired,
  isRangeEnd,
  maxRangeBytes,
  type RangeRead,
  type ReadView,
  type StoredEntry,
} from "../../engine/engine.js";
import type { LoggedChange, LogRecord } from "../../engine/log/log-record.js";
import { visibleRange } from "../../engine/system-keys.js";
import { PastUnknownError } from "../../errors/log-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import type { KeyRange } from "../../keys/key-range.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";
import { KvU64 } from "../../values/kv-u64.js";

/**
 * What a key had at the earlier moment: an entry or null, the present `KvU64` without a number that
 * was added since, or something that the log does not tell.
 */
type PastState =
  | { readonly type: "entry"; readonly entry: StoredEntry | null }
  | { readonly type: "added"; readonly sum: bigint }
  | { readonly type: "unknown" };

/** The keys that were changed after a moment, and what they had at that moment. */
export class UndoneChanges {
  readonly #states = new Map<string, { readonly key: Uint8Array; readonly state: PastState }>();
  /** Entries that have expired by this time are absent, as in the present state. */
  readonly #now: number;
  #sorted: readonly { readonly key: Uint8Array; readonly state: PastState }[] | undefined;

  /** @param now milliseconds since the epoch. */
  constructor(now: number) {
    this.#now = now;
  }

  /** Undoes a commit. Each is older than the one before. */
  add({ changes }: LogRecord): void {
    const whole = new Set<string>();
    for (const change of changes) {
      const text = textOfBytes(change.key);
      // The first of them tells what was stored before the commit.
      if (change.operand !== undefined || whole.has(text)) continue;
      whole.add(text);
      this.#states.set(text, { key: change.key, state: this.#before(change) });
    }
    for (const change of changes) {
      const text = textOfBytes(change.key);
      if (change.operand === undefined || whole.has(text)) continue;
      const state = withoutChange(this.#states.get(text)?.state, change);
      this.#states.set(text, { key: change.key, state });
    }
    this.#sorted = undefined;
  }

  get(key: Uint8Array): PastState | undefined {
    return this.#states.get(textOfBytes(key))?.state;
  }

  /** Returns the keys of a range in their order. */
  within({ start, end }: KeyRange): readonly { key: Uint8Array; state: PastState }[] {
    this.#sorted ??= [...this.#states.values()].sort((a, b) => compareBytes(a.key, b.key));
    return this.#sorted.slice(this.#position(start), this.#position(end));
  }

  /** Returns how many keys are before a key. */
  #position(key: Uint8Array): number {
    const sorted = this.#sorted!;
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(sorted[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #before({ key, before }: LoggedChange): PastState {
    const isThere = before !== null && !hasExpired(before, this.#now);
    return { type: "entry", entry: isThere ? { key, ...before } : null };
  }
}

/** Returns the state before a sum, minimum or maximum, by the state after it. */
function withoutChange(
  after: PastState = { type: "added", sum: 0n },
  { type, operand = 0n }: LoggedChange,
): PastState {
  if (type !== "sum") return { type: "unknown" };
  if (after.type === "added") return { type: "added", sum: after.sum + operand };
  if (after.type === "unknown" || after.entry === null) return { type: "unknown" };
  return { type: "entry", entry: minus(after.entry, operand) };
}

/** Returns the entry of a `KvU64` without what was added. Null if nothing remains. */
function minus(entry: StoredEntry, operand: bigint): StoredEntry | null {
  const value = BigInt.asUintN(64, (decodeValue(entry.value) as KvU64).value - operand);
  if (value === 0n) return null;
  return { ...entry, value: encodeValue(new KvU64(value)), expireAt: undefined };
}

/** The reads of an earlier state: the present one without what was changed since. */
export class PastView implements ReadView {
  readonly #present: ReadView;
  readonly #undone: UndoneChanges;
  readonly #order: KeyOrder;
  readonly versionstamp: string;

  /** @param versionstamp that of the last commit that the state contains. */
  constructor(present: ReadView, undone: UndoneChanges, order: KeyOrder, versionstamp: string) {
    this.#present = present;
    this.#undone = undone;
    this.#order = order;
    this.versionstamp = versionstamp;
  }

  async get(key: Uint8Array): Promise<StoredEntry | undefined> {
    return this.#entryOf(key, await this.#present.get(key)) ?? undefined;
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    const present = await this.#present.getMany(keys);
    return keys.map((key, i) => this.#entryOf(key, present[i]) ?? undefined);
  }

  async getRange({ range, limit, reverse }: RangeRead): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = [];
    let bytes = 0;
    for (let rest = visibleRange(range); ; ) {
      const page = await this.#present.getRange({ range: rest, limit, reverse });
      const isEnd = isRangeEnd(page, limit);
      const [read, next] = isEnd ? [rest, rest] : divided(rest, page.at(-1)!.key, reverse);
      for (const entry of this.#merged(page, read, reverse)) {
        entries.push(entry);
        bytes += entry.value.length;
        if (entries.length === limit || bytes >= maxRangeBytes) return entries;
      }
      if (isEnd) return entries;
      rest = next;
    }
  }

  close(): void {
    this.#present.close();
  }

  /** Returns the earlier entries of a range, whose present ones are `page`. */
  *#merged(
    page: readonly StoredEntry[],
    range: KeyRange,
    reverse: boolean,
  ): Generator<StoredEntry> {
    const undone = [...this.#undone.within(range)];
    if (reverse) undone.reverse();
    const isBefore = (a: Uint8Array, b: Uint8Array) =>
      reverse ? compareBytes(a, b) > 0 : compareBytes(a, b) < 0;
    let i = 0;
    for (const { key } of undone) {
      while (i < page.length && isBefore(page[i]!.key, key)) yield page[i++]!;
      const present = i < page.length && compareBytes(page[i]!.key, key) === 0 ? page[i++] : null;
      const entry = this.#entryOf(key, present ?? undefined);
      if (entry !== null && entry !== undefined) yield entry;
    }
    yield* page.slice(i);
  }

  /** @throws {PastUnknownError} if the log does not tell what the key had. */
  #entryOf(key: Uint8Array, present: StoredEntry | undefined): StoredEntry | null | undefined {
    const state = this.#undone.get(key);
    if (state === undefined) return present;
    if (state.type === "entry") return state.entry;
    if (state.type === "unknown") throw new PastUnknownError(decodeKey(key, this.#order));
    if (present === undefined) return null;
    const entry = minus(present, state.sum);
    return entry && { ...entry, versionstamp: this.versionstamp };
  }
}

/** Returns the part of a range up to a key that was read, and the part after it. */
function divided(range: KeyRange, last: Uint8Array, reverse: boolean): [KeyRange, KeyRange] {
  const { start, end } = range;
  if (reverse)
    return [
      { start: last, end },
      { start, end: last },
    ];
  const after = new Uint8Array(last.length + 1);
  after.set(last);
  return [
    { start, end: after },
    { start: after, end },
  ];
}
