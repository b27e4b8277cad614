import { compareBytes } from "../../bytes/compare-bytes.js";
import { type Engine, isRangeEnd, type StoredEntry } from "../../engine/engine.js";
import { keepAlive } from "../../engine/keep-alive.js";
import {
  logRecordKey,
  logRecords,
  logRecordsAfter,
  logSwitchKey,
} from "../../engine/log/log-keys.js";
import {
  decodeLogRecord,
  type LoggedChange,
  type LoggedChangeType,
  type LoggedValue,
  type LogRecord,
} from "../../engine/log/log-record.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { LogOffError, LogTruncatedError } from "../../errors/log-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import type { KeyRange } from "../../keys/key-range.js";
import { decodeValue } from "../../values/decode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import type { Open } from "../watch/watch.js";
import { readLogState } from "./log-state.js";
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
  /**
   * True to begin with the newest commit, and to end with the oldest one of the log. It does not
   * wait for further commits. The default is false.
   */
  readonly reverse?: boolean | undefined;
  /** With `reverse`, only commits before this versionstamp. */
  readonly before?: string | undefined;
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
  /** Throws if the database was moved: then the log has no further commits. */
  readonly assertCurrent: () => void;
}

/** Yields the commits of the log in their order, a page of one state at a time. */
export async function* readChanges<T>(
  source: ChangesSource,
  options: KvChangesOptions,
): AsyncGenerator<KvLoggedCommit<T>, void, undefined> {
  const { after, live = true, reverse = false, signal } = options;
  if (after !== undefined) assertVersionstamp(after);
  if (reverse) {
    yield* readBackwards<T>(source, options);
    return;
  }
  if (options.before !== undefined)
    throw new InvalidOptionError("before", "needs reverse: true", "changes");
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
      if (!live) return;
      source.assertCurrent();
      // The waiting also ends if the database was moved.
      if (!(await nextCommit(source, position, signal)) && source.isClosed()) return;
    }
  } catch (error) {
    // The handle was closed during a read.
    if (!source.isClosed()) throw error;
  }
}

/** Yields the commits of the log from the newest to the oldest, as far as `before` and `after`. */
async function* readBackwards<T>(
  source: ChangesSource,
  { after, before, signal }: KvChangesOptions,
): AsyncGenerator<KvLoggedCommit<T>, void, undefined> {
  if (before !== undefined) assertVersionstamp(before);
  let end = before === undefined ? logRecords.end : logRecordKey(before);
  for (;;) {
    signal?.throwIfAborted();
    const state = await readLogState(source.engine);
    if (state === undefined) throw new LogOffError();
    const start = after === undefined ? state.since : after;
    if (start < state.since) throw new LogTruncatedError(start, state.since);
    const range = { start: logRecordsAfter(start).start, end };
    const page = await source.engine.getRange({ range, limit: pageSize, reverse: true });
    for (const record of page) {
      const commit = commitOf<T>(record, source);
      if (commit.changes.length === 0) continue;
      yield commit;
      signal?.throwIfAborted();
    }
    if (isRangeEnd(page, pageSize)) return;
    end = page.at(-1)!.key;
  }
}

/**
 * Resolves with true when there may be a commit after a position or the log may have ended, or
 * false if the handle closes.
 */
export async function nextCommit(
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
    if (signal?.aborted) return true;
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

/** Returns the commit of a stored record, with its changes in a range of keys. */
export function commitOf<T>(
  { versionstamp, value }: StoredEntry,
  filter: ChangesFilter,
): KvLoggedCommit<T> {
  return commitOfRecord<T>(decodeLogRecord(versionstamp, value), filter);
}

/** Returns the commit of a record, with its changes in a range of keys. */
export function commitOfRecord<T>(
  { versionstamp, time, context, changes }: LogRecord,
  { order, range: { start, end } }: ChangesFilter,
): KvLoggedCommit<T> {
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
