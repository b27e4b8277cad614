import { randomUUID, unref } from "#platform";
import type { CommitQueue } from "../../engine/commit/commit-queue.js";
import type {
  AtomicWrite,
  Engine,
  StoredCheck,
  StoredEntry,
  StoredMutation,
} from "../../engine/engine.js";
import { type DatabaseMode, encodeDatabaseHeader } from "../../engine/level/database-header.js";
import {
  logRecords,
  logRecordsAfter,
  logStateKey,
  logSwitchKey,
} from "../../engine/log/log-keys.js";
import { decodeLogRecord } from "../../engine/log/log-record.js";
import { LogOffError } from "../../errors/log-errors.js";
import type { KeyRange } from "../../keys/key-range.js";
import { encodeValue } from "../../values/encode-value.js";
import { storedHeaderKey } from "../open/verify-mode.js";
import { addLogRecord } from "./add-log-record.js";
import type { LogSettings } from "./log-options.js";
import { encodeLogState, type LogState, readLogState, type StoredLogState } from "./log-state.js";

const pageSize = 200;
/** The log is shortened after this many milliseconds, or after so many new bytes. */
const interval = 60_000;
const bytesOfInterval = 16 * 1024 * 1024;
/**
 * After a refusal, the switch is read again if it was not confirmed for so many milliseconds, or if
 * as many commits were refused in a row.
 */
const longestConfirmed = 1000;
const mostRefusals = 8;

/** The log of a database: logs the commits of this process, and removes old records. */
export class CommitLog {
  readonly #engine: Engine;
  readonly #queue: Pick<CommitQueue, "commit">;
  readonly #mode: DatabaseMode;
  /** True if other processes may begin or end the log. */
  readonly #isShared: boolean;
  /** True if the commits from now on are logged. */
  #isOn = false;
  /** The versionstamp of the switch. Commits check it if others may begin or end the log. */
  #version: string | null = null;
  /** The value of the switch. */
  #id: Uint8Array | undefined;
  #reloading: Promise<void> | undefined;
  /** When the switch was last known to be as it is here, by `performance.now()`. */
  #confirmedAt = 0;
  /** How many commits were refused since then. */
  #refusals = 0;
  /** The bytes of records since the log was shortened. */
  #newBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The records up to here were made while a clock was ahead, as far as this process has seen. */
  #aheadUpTo = "";
  /** Changes of the state happen one after another. */
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;
  #onSwitched: () => Promise<void> = async () => undefined;

  constructor(engine: Engine, queue: Pick<CommitQueue, "commit">, mode: DatabaseMode) {
    this.#engine = engine;
    this.#queue = queue;
    this.#mode = mode;
    // Without records of its own, an engine gets commits late: after what they change was read.
    this.#isShared = engine.isShared === true || engine.keepsLog !== true;
  }

  /** True if the database keeps a log, as far as this process knows. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Sets what is called when the switch of the log has changed, before a commit is repeated. */
  set onSwitched(verify: () => Promise<void>) {
    this.#onSwitched = verify;
  }

  /** Reads whether the database keeps a log. Called before its first commit. */
  async open(): Promise<void> {
    if (this.#engine.listen !== undefined) return;
    await this.#reload();
    if (!this.#isOn || this.#engine.isReadOnly === true) return;
    // A program that ends before the timer would otherwise never shorten the log.
    this.#shortenSoon();
    this.#schedule();
  }

  /**
   * Commits a write as {@link CommitQueue.commit} does, with a record if the database keeps a log.
   */
  commit(write: AtomicWrite): Promise<string | null> {
    // The owner of the database logs the commits of other processes.
    if (this.#engine.listen !== undefined) return this.#queue.commit(write);
    return this.#isShared ? this.#commitShared(write) : this.#commit(write);
  }

  #commit(write: AtomicWrite): Promise<string | null> {
    if (this.#isShared) {
      const checks = [...write.checks, { key: logSwitchKey, versionstamp: this.#version }];
      return this.#commitOnce({ ...write, checks });
    }
    return this.#commitOnce(write);
  }

  #commitOnce(write: AtomicWrite): Promise<string | null> {
    if (!this.#isOn) return this.#queue.commit(write);
    return this.#engine.keepsLog === true
      ? this.#queue.commit(this.#marked(write))
      : this.#commitRecorded(write);
  }

  /**
   * Commits a write that also checks whether the database still keeps a log, or still keeps none.
   * It may be refused for that reason if it has checks, as after any other conflict.
   */
  async #commitShared(write: AtomicWrite): Promise<string | null> {
    for (;;) {
      const versionstamp = await this.#commit(write);
      if (versionstamp !== null) {
        this.#confirm();
        return versionstamp;
      }
      const hasChecks = write.checks.length > 0 || (write.rangeChecks ?? []).length > 0;
      if (hasChecks && !this.#mayBeStale()) return null;
      this.#reloading ??= this.#reloadAll().finally(() => {
        this.#reloading = undefined;
      });
      if (hasChecks) {
        this.#reloading.catch(() => undefined);
        return null;
      }
      await this.#reloading;
    }
  }

  /** Called when the switch was as this process knows it. */
  #confirm(): void {
    this.#confirmedAt = performance.now();
    this.#refusals = 0;
  }

  /** Called after a refusal. False if it is more likely that a check of the caller has failed. */
  #mayBeStale(): boolean {
    this.#refusals++;
    const isOld = performance.now() - this.#confirmedAt > longestConfirmed;
    return isOld || this.#refusals >= mostRefusals;
  }

  async #commitRecorded(write: AtomicWrite): Promise<string | null> {
    for (;;) {
      const logged = await addLogRecord(this.#engine, write);
      const versionstamp = await this.#queue.commit(logged.write);
      if (versionstamp !== null || !(await logged.hasChanged())) return versionstamp;
    }
  }

  #marked(write: AtomicWrite): AtomicWrite {
    return { ...write, log: { time: Date.now(), onLogged: this.#onLogged } };
  }

  /**
   * Commits a write of the mark of a move. The commits of other processes check the switch of the
   * log, so the write stores the switch again: no commit that was made with the former one is
   * applied after it.
   *
   * @throws {LogOffError} if a database is to be moved that keeps no log.
   */
  async commitMark(write: AtomicWrite): Promise<string | null> {
    await this.#reload();
    const isFence = write.mutations[0]!.type === "set";
    if (isFence && !this.#isOn) throw new LogOffError();
    if (!this.#isShared || this.#id === undefined || !isFence) return await this.#commit(write);
    const touch = { type: "set", key: logSwitchKey, value: this.#id } as const;
    return await this.#commit({ ...write, mutations: [...write.mutations, touch] });
  }

  async #reloadAll(): Promise<void> {
    await this.#reload();
    await this.#onSwitched();
  }

  async #reload(): Promise<void> {
    const entry = await this.#engine.get(logSwitchKey);
    this.#isOn = entry !== undefined;
    this.#id = entry?.value;
    this.#version = entry?.versionstamp ?? null;
    this.#confirm();
  }

  /**
   * Begins to keep a log, or changes how long it is kept. Commits that are made after this call are
   * in the log.
   */
  keep(settings: LogSettings): Promise<void> {
    return this.#next(async () => {
      for (;;) {
        const state = await readLogState(this.#engine);
        if (state !== undefined && isSame(state, settings)) break;
        if (state === undefined) await this.#removeRecords();
        // The queue keeps the order of commits, so all commits after that of the switch are logged.
        this.#isOn = !this.#isShared || this.#isOn;
        const on = { type: "set", key: logSwitchKey, value: encodeValue(randomUUID()) } as const;
        const begin = state === undefined ? [on] : [];
        const format = await this.#formatOf(true);
        const others = [...begin, ...format.mutations];
        const next = { ...state, ...settings };
        if (await this.#store(next, state?.version ?? null, others, format.header)) break;
      }
      await this.#reload();
      this.#schedule();
    });
  }

  /** Ends the log and removes all of it. */
  end(): Promise<void> {
    return this.#next(async () => {
      // An earlier end may have been interrupted.
      if ((await readLogState(this.#engine)) === undefined) return await this.#removeRecords();
      const keys = [logSwitchKey, logStateKey];
      const deletes = keys.map((key) => ({ type: "delete", key }) as const);
      const { mutations, header } = await this.#formatOf(false);
      const ended = this.#write({ mutations: [...deletes, ...mutations], sync: true, header });
      // The queue keeps the order of commits. Where others share the database, commits check the
      // switch.
      this.#isOn = this.#isShared && this.#isOn;
      try {
        await ended;
      } finally {
        await this.#reload();
      }
      await this.#removeRecords();
    });
  }

  /**
   * Returns what changes the format of the database: with a log, releases that do not know the log
   * refuse to open it, because their commits would be missing in it.
   */
  async #formatOf(isLogged: boolean): Promise<FormatChange> {
    const value = encodeDatabaseHeader(this.#mode, isLogged);
    const isEntry = (await this.#engine.get(storedHeaderKey)) !== undefined;
    if (isEntry) return { mutations: [{ type: "set", key: storedHeaderKey, value }] };
    return { mutations: [], header: value };
  }

  /** Ends the work in the background. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#work;
  }

  readonly #onLogged = (bytes: number): void => {
    this.#newBytes += bytes;
    if (this.#newBytes < bytesOfInterval) return;
    this.#newBytes = 0;
    this.#shortenSoon();
  };

  #shortenSoon(): void {
    // A log that could not be shortened is shortened the next time.
    void this.#next(() => this.#shorten()).catch(() => undefined);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#engine.isReadOnly === true) return;
    const shorten = () => {
      this.#shortenSoon();
      this.#schedule();
    };
    this.#timer = unref(setTimeout(shorten, interval));
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  /**
   * Removes the records that are too old or too many, the oldest first. Other changes of the log
   * can happen after each page.
   */
  async #shorten(): Promise<void> {
    const state = await this.#countedState();
    if (state === undefined) return;
    const page = await this.#page(logRecords);
    let removed = oldRecords(page, state);
    if (removed.length === 0 && (await this.#isOlderThanOld(page, state))) removed = page;
    const last = removed.at(-1);
    if (last === undefined) return;
    const deletes = removed.map(({ key }) => ({ type: "delete", key }) as const);
    const shortened = withoutRecords(state, removed, last.versionstamp);
    // Another process may have shortened the log at the same time.
    const isDone = await this.#store(shortened, state.version, deletes);
    if (isDone && !this.#isClosed) this.#shortenSoon();
  }

  /**
   * True if a clock was ahead when the records of a page were made: their times are in the future,
   * although a later record is too old already.
   */
  async #isOlderThanOld(page: readonly StoredEntry[], state: LogState): Promise<boolean> {
    const isAhead = (entry: StoredEntry) => timeOf(entry) > Date.now();
    for (let records = page; !this.#isClosed; records = await this.#page(this.#afterAhead())) {
      const last = records.at(-1);
      if (last === undefined) return false;
      const next = records.find((entry) => !isAhead(entry));
      if (next !== undefined) return timeOf(next) < Date.now() - state.keepMilliseconds;
      if (last.versionstamp > this.#aheadUpTo) this.#aheadUpTo = last.versionstamp;
    }
    return false;
  }

  #afterAhead(): KeyRange {
    return logRecordsAfter(this.#aheadUpTo);
  }

  /** Returns the state with the bytes of all records, if the log has a limit of bytes. */
  async #countedState(): Promise<StoredLogState | undefined> {
    const state = await readLogState(this.#engine);
    if (state?.maxBytes === undefined) return state;
    let { bytes, upTo } = state.counted ?? { bytes: 0, upTo: state.since };
    while (!this.#isClosed) {
      const page = await this.#page(logRecordsAfter(upTo));
      for (const entry of page) bytes += bytesOf(entry);
      const last = page.at(-1);
      if (last === undefined) break;
      upTo = last.versionstamp;
    }
    if (upTo === state.counted?.upTo) return state;
    const isStored = await this.#store({ ...state, counted: { bytes, upTo } }, state.version);
    return isStored ? await readLogState(this.#engine) : undefined;
  }

  #page(range: KeyRange): Promise<StoredEntry[]> {
    return this.#engine.getRange({ range, limit: pageSize, reverse: false });
  }

  /** Removes all records, unless another process begins a log. */
  async #removeRecords(): Promise<void> {
    const checks = [{ key: logSwitchKey, versionstamp: null }];
    let isOff = true;
    while (isOff && !this.#isClosed) {
      const page = await this.#page(logRecords);
      if (page.length === 0) return;
      const mutations = page.map(({ key }) => ({ type: "delete", key }) as const);
      isOff = await this.#write({ checks, mutations });
    }
  }

  /** Stores the state, with other mutations. Returns false if it is no longer that of `version`. */
  async #store(
    state: LogSettings & Partial<LogState>,
    version: string | null,
    others: readonly StoredMutation[] = [],
    header?: Uint8Array,
  ): Promise<boolean> {
    const set = { type: "set", key: logStateKey, value: encodeLogState(state) } as const;
    const checks = [{ key: logStateKey, versionstamp: version }];
    return await this.#write({ checks, mutations: [...others, set], sync: true, header });
  }

  async #write({
    checks = [],
    mutations,
    sync = false,
    header,
  }: {
    readonly checks?: readonly StoredCheck[];
    readonly mutations: readonly StoredMutation[];
    readonly sync?: boolean;
    readonly header?: Uint8Array | undefined;
  }): Promise<boolean> {
    const write = { checks, mutations, sync, ...(header !== undefined && { header }) };
    return (await this.#queue.commit(write)) !== null;
  }
}

/** The header of the database as an entry, or for an engine that stores it itself. */
interface FormatChange {
  readonly mutations: readonly StoredMutation[];
  readonly header?: Uint8Array;
}

function isSame(a: LogSettings, b: LogSettings): boolean {
  return a.keepMilliseconds === b.keepMilliseconds && a.maxBytes === b.maxBytes;
}

/** Returns the first records of a page that are to be removed. */
function oldRecords(
  page: readonly StoredEntry[],
  { keepMilliseconds, maxBytes = Number.POSITIVE_INFINITY, counted }: LogState,
): StoredEntry[] {
  const now = Date.now();
  const oldest = now - keepMilliseconds;
  let excess = (counted?.bytes ?? 0) - maxBytes;
  let old = 0;
  for (const [index, entry] of page.entries()) {
    const isTooMany = excess > 0;
    excess -= bytesOf(entry);
    const time = timeOf(entry);
    if (isTooMany || time < oldest) old = index + 1;
    // A record of the future was made while a clock was ahead. It is older than those after it.
    else if (time <= now) break;
  }
  return page.slice(0, old);
}

function timeOf({ versionstamp, value }: StoredEntry): number {
  return decodeLogRecord(versionstamp, value).time;
}

function withoutRecords(state: LogState, removed: readonly StoredEntry[], since: string): LogState {
  const { counted } = state;
  if (counted === undefined) return { ...state, since };
  let { bytes } = counted;
  for (const entry of removed) bytes -= bytesOf(entry);
  return { ...state, since, counted: { bytes, upTo: counted.upTo } };
}

function bytesOf({ key, value }: StoredEntry): number {
  return key.length + value.length;
}
