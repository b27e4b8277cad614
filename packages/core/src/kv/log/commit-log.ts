import { randomUUID } from "node:crypto";
import type { CommitQueue } from "../../engine/commit-queue.js";
import type {
  AtomicWrite,
  Engine,
  StoredCheck,
  StoredEntry,
  StoredMutation,
} from "../../engine/engine.js";
import {
  logRecords,
  logRecordsAfter,
  logStateKey,
  logSwitchKey,
} from "../../engine/log/log-keys.js";
import { decodeLogRecord } from "../../engine/log/log-record.js";
import type { KeyRange } from "../../keys/key-range.js";
import { encodeValue } from "../../values/encode-value.js";
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
  /** True if other processes may begin or end the log. */
  readonly #isShared: boolean;
  /** True if the commits from now on are logged. */
  #isOn = false;
  /** The versionstamp of the switch. Commits check it if others may begin or end the log. */
  #version: string | null = null;
  #reloading: Promise<void> | undefined;
  /** When the switch was last known to be as it is here, by `performance.now()`. */
  #confirmedAt = 0;
  /** How many commits were refused since then. */
  #refusals = 0;
  /** The bytes of records since the log was shortened. */
  #newBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Changes of the state happen one after another. */
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(engine: Engine, queue: Pick<CommitQueue, "commit">) {
    this.#engine = engine;
    this.#queue = queue;
    this.#isShared = engine.isShared === true;
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

  /** Commits a write as {@link CommitQueue.commit} does, with a record if the database keeps a log. */
  commit(write: AtomicWrite): Promise<string | null> {
    // The owner of the database logs the commits of other processes.
    if (this.#engine.listen !== undefined) return this.#queue.commit(write);
    if (this.#isShared) return this.#commitShared(write);
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
      const checks = [...write.checks, { key: logSwitchKey, versionstamp: this.#version }];
      const checked = { ...write, checks };
      const versionstamp = await (!this.#isOn
        ? this.#queue.commit(checked)
        : this.#engine.keepsLog === true
          ? this.#queue.commit(this.#marked(checked))
          : this.#commitRecorded(checked));
      if (versionstamp !== null) {
        this.#confirm();
        return versionstamp;
      }
      const hasChecks = write.checks.length > 0 || (write.rangeChecks ?? []).length > 0;
      if (hasChecks && !this.#mayBeStale()) return null;
      this.#reloading ??= this.#reload().finally(() => {
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

  async #reload(): Promise<void> {
    const entry = await this.#engine.get(logSwitchKey);
    this.#isOn = entry !== undefined;
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
        if (await this.#store({ ...state, ...settings }, state?.version ?? null, begin)) break;
      }
      await this.#reload();
      this.#schedule();
    });
  }

  /** Ends the log and removes all of it. */
  end(): Promise<void> {
    return this.#next(async () => {
      if ((await readLogState(this.#engine)) === undefined) return;
      const keys = [logSwitchKey, logStateKey];
      const mutations = keys.map((key) => ({ type: "delete", key }) as const);
      const ended = this.#write({ mutations, sync: true });
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
    this.#timer = setTimeout(() => {
      this.#shortenSoon();
      this.#schedule();
    }, interval).unref();
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
    const removed = oldRecords(await this.#page(logRecords), state);
    const last = removed.at(-1);
    if (last === undefined) return;
    const deletes = removed.map(({ key }) => ({ type: "delete", key }) as const);
    const shortened = withoutRecords(state, removed, last.versionstamp);
    // Another process may have shortened the log at the same time.
    const isDone = await this.#store(shortened, state.version, deletes);
    if (isDone && !this.#isClosed) this.#shortenSoon();
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
  ): Promise<boolean> {
    const set = { type: "set", key: logStateKey, value: encodeLogState(state) } as const;
    const checks = [{ key: logStateKey, versionstamp: version }];
    return await this.#write({ checks, mutations: [...others, set], sync: true });
  }

  async #write({
    checks = [],
    mutations,
    sync = false,
  }: {
    readonly checks?: readonly StoredCheck[];
    readonly mutations: readonly StoredMutation[];
    readonly sync?: boolean;
  }): Promise<boolean> {
    return (await this.#queue.commit({ checks, mutations, sync })) !== null;
  }
}

function isSame(a: LogSettings, b: LogSettings): boolean {
  return a.keepMilliseconds === b.keepMilliseconds && a.maxBytes === b.maxBytes;
}

/** Returns the first records of a page that are to be removed. */
function oldRecords(
  page: readonly StoredEntry[],
  { keepMilliseconds, maxBytes = Number.POSITIVE_INFINITY, counted }: LogState,
): StoredEntry[] {
  const oldest = Date.now() - keepMilliseconds;
  let excess = (counted?.bytes ?? 0) - maxBytes;
  const isOld = (entry: StoredEntry) => {
    const isTooMany = excess > 0;
    excess -= bytesOf(entry);
    return isTooMany || decodeLogRecord(entry.versionstamp, entry.value).time < oldest;
  };
  const kept = page.findIndex((entry) => !isOld(entry));
  return kept === -1 ? [...page] : page.slice(0, kept);
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
