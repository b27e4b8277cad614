import { compareBytes } from "../../bytes/compare-bytes.js";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import { keepAlive } from "../../engine/keep-alive.js";
import { logRecords, logRecordsAfter, logSwitchKey } from "../../engine/log/log-keys.js";
import {
  decodeLogRecord,
  type LoggedChange,
  type LoggedChangeType,
  type LoggedValue,
} from "../../engine/log/log-record.js";
import { decodeKey } from "../../keys/decode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import type { KeyRange } from "../../keys/key-range.js";
import { decodeValue } from "../../values/decode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import type { Open } from "../watch/watch.js";
import { readLogPage } from "./read-log-page.js";

const pageSize = 200;

/** A value that the log has kept. */
export interface KvLoggedValue<T = unknown> {
  readonly value: T;
  readonly versionstamp: string;
  /** Milliseconds since the epoch. Absent if the entry did not expire. */
  readonly expireAt?: number;
}

/** What one commit has changed under one key. */
export interface KvChange<T = unknown> {
  /**
   * `"expire"` is the removal of an entry some time after it has expired. On etcd and PostgreSQL, a
   * `sum`, `min` or `max` is logged as such, with its operand. Elsewhere it is a `"set"`.
   */
  readonly type: LoggedChangeType;
  readonly key: KvKey;
  /** Null if there was no entry, and for an `"expire"` on etcd and PostgreSQL. */
  readonly before: KvLoggedValue<T> | null;
  /** Null unless the type is `"set"`. */
  readonly after: KvLoggedValue<T> | null;
  /** Of a `"sum"`, `"min"` or `"max"`, whose `before` and `after` are null. */
  readonly operand?: KvU64;
}

/** A commit of the log, with all its changes that were asked for, and at least one. */
export interface KvLoggedCommit<T = unknown> {
  readonly versionstamp: string;
  /** The time of the commit by the clock of the process that owned the database. */
  readonly time: Date;
  /** What `context` of the atomic operation said about it. Undefined if it said nothing. */
  readonly context: unknown;
  readonly changes: readonly KvChange<T>[];
}

/** Options of `kv.changes`. */
export interface KvChangesOptions {
  /**
   * The versionstamp of the last commit that was seen. The next commits follow. Without it, the
   * first is the oldest commit of the log.
   */
  readonly after?: string | undefined;
  /** Only changes of keys with this prefix. */
  readonly prefix?: KvKey | undefined;
  /** Only changes of this key. */
  readonly key?: KvKey | undefined;
  /** False to end after the newest commit. By default, the iteration waits for further commits. */
  readonly live?: boolean | undefined;
  /** Ends the iteration with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Which changes of commits are returned. */
export interface ChangesFilter {
  readonly order: KeyOrder;
  readonly range: KeyRange;
}

export interface ChangesSource extends ChangesFilter {
  readonly open: Open;
  readonly engine: Engine;
  /** True if the handle was closed. */
  readonly isClosed: () => boolean;
}

/** Yields the commits of the log in their order, a page of one state at a time. */
export async function* readChanges<T>(
  source: ChangesSource,
  options: KvChangesOptions,
): AsyncGenerator<KvLoggedCommit<T>, void, undefined> {
  const { after, live = true, signal } = options;
  if (after !== undefined) assertVersionstamp(after);
  let position = after;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const page = await readLogPage(source.engine, position, pageSize);
      position = page.records.at(-1)?.versionstamp ?? page.position;
      for (const record of page.records) {
        const commit = commitOf<T>(record, source);
        if (commit.changes.length === 0) continue;
        yield commit;
        signal?.throwIfAborted();
      }
      if (!page.isEnd) continue;
      if (!live || !(await nextCommit(source, position, signal))) return;
    }
  } catch (error) {
    // The handle was closed during a read.
    if (!source.isClosed()) throw error;
  }
}

/**
 * Resolves with true when there may be a commit after a position or the log may have ended, or
 * false if the handle closes.
 */
async function nextCommit(
  { engine, open, isClosed }: ChangesSource,
  position: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let wake: (isOpen: boolean) => void = () => undefined;
  const woken = new Promise<boolean>((resolve) => {
    wake = resolve;
  });
  // The log may also end.
  const watched = { start: logSwitchKey, end: logRecords.end };
  const unwatch = engine.watchRanges([watched], () => wake(true));
  const handle = { end: () => wake(false) };
  const onAbort = () => wake(true);
  const release = keepAlive();
  open.add(handle);
  signal?.addEventListener("abort", onAbort);
  try {
    if (isClosed()) return false;
    // A commit may have come since the page was read, or the log may have ended.
    const range = logRecordsAfter(position);
    const [first] = await engine.getRange({ range, limit: 1, reverse: false });
    const isOn = (await engine.get(logSwitchKey)) !== undefined;
    return first !== undefined || !isOn || (await woken);
  } finally {
    unwatch();
    release();
    open.delete(handle);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Returns the commit of a record, with its changes in a range of keys. */
export function commitOf<T>(
  { versionstamp, value }: StoredEntry,
  { order, range: { start, end } }: ChangesFilter,
): KvLoggedCommit<T> {
  const { time, context, changes } = decodeLogRecord(versionstamp, value);
  const isWanted = (key: Uint8Array) => compareBytes(key, start) >= 0 && compareBytes(key, end) < 0;
  const wanted = changes.filter(({ key }) => isWanted(key));
  return {
    versionstamp,
    time: new Date(time),
    context: context && decodeValue(context),
    changes: wanted.map((change) => changeOf<T>(change, order)),
  };
}

function changeOf<T>(change: LoggedChange, order: KeyOrder): KvChange<T> {
  const { type, key, before, after, operand } = change;
  return {
    type,
    key: decodeKey(key, order),
    before: before && loggedValue<T>(before),
    after: after && loggedValue<T>(after),
    ...(operand !== undefined && { operand: new KvU64(operand) }),
  };
}

function loggedValue<T>({ value, versionstamp, expireAt }: LoggedValue): KvLoggedValue<T> {
  const decoded = decodeValue(value) as T;
  return { value: decoded, versionstamp, ...(expireAt !== undefined && { expireAt }) };
}
