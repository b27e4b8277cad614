import { randomUUID } from "node:crypto";
import { compareBytes } from "../../../bytes/compare-bytes.js";
import type {
  AtomicWrite,
  StoredCheck,
  StoredEntry,
  StoredMutation,
} from "../../../engine/engine.js";
import { logSwitchKey } from "../../../engine/log/log-keys.js";
import { afterEntries, firstEntryKey } from "../../../engine/system-keys.js";
import { BackupDatabaseError } from "../../../errors/backup-errors.js";
import { awaitAll } from "../../../values/await-all.js";
import { encodeValue } from "../../../values/encode-value.js";
import { expiryHint } from "../../expiry/expiry-hint.js";
import { restoreMarkKey } from "../../open/marks/restore-mark.js";
import type { SharedEngine } from "../../open/shared-engine.js";
import { messageKeys } from "../../queue/message-key.js";

const pageSize = 500;
/** Bytes of keys and values that are committed together. */
const groupBytes = 8 * 1024 * 1024;
const groupCommits = 10_000;
const entries = { start: firstEntryKey, end: afterEntries };

export interface RestoreTargetOptions {
  /** False if the commits need not survive a power cut. The default is true. */
  readonly sync?: boolean;
  /** Returns the error for a database that cannot be used, by the reason. */
  readonly errorOf?: (reason: string) => Error;
}

/** A database into which a backup is restored, or another database is moved. */
export class RestoreTarget {
  readonly #shared: SharedEngine;
  readonly #sync: boolean;
  readonly #errorOf: (reason: string) => Error;
  /** Of the mark. Each commit checks it, so that two restores do not mix. */
  #mark: string | null = null;
  #isLogged = false;
  #group: AtomicWrite[] = [];
  #groupBytes = 0;

  constructor(shared: SharedEngine, options: RestoreTargetOptions = {}) {
    const restoring = (reason: string) => new BackupDatabaseError("restore", reason);
    const { sync = true, errorOf = restoring } = options;
    this.#shared = shared;
    this.#sync = sync;
    this.#errorOf = errorOf;
  }

  /** Returns the mark, if a restore has not finished. */
  async mark(): Promise<StoredEntry | undefined> {
    return await this.#shared.engine.get(restoreMarkKey);
  }

  /**
   * Verifies that the database is empty, and marks it. What an interrupted restore has left is
   * removed.
   *
   * @param value the encoded value of the mark.
   * @throws {BackupDatabaseError} if the database has entries or messages.
   */
  async begin(value: Uint8Array = encodeValue(randomUUID())): Promise<void> {
    const { engine, commit } = this.#shared;
    const view = await engine.openView?.();
    let rangeChecks: AtomicWrite["rangeChecks"] = [];
    try {
      const reads = view ?? engine;
      const mark = await reads.get(restoreMarkKey);
      this.#mark = mark?.versionstamp ?? null;
      if (mark === undefined) {
        for (const range of [entries, messageKeys]) {
          const [first] = await reads.getRange({ range, limit: 1, reverse: false });
          if (first !== undefined) throw this.#errorOf("it is not empty");
        }
        const versionstamp = view?.versionstamp;
        if (engine.checksRanges === true && versionstamp !== undefined)
          rangeChecks = [{ range: entries, versionstamp }];
      }
    } finally {
      view?.close();
    }
    await this.#readSwitch();
    const set = { type: "set", key: restoreMarkKey, value } as const;
    const checks = [this.#check];
    const write = {
      checks,
      mutations: [set],
      sync: true,
      ...(rangeChecks.length > 0 && { rangeChecks }),
    };
    const hasRemains = this.#mark !== null;
    this.#mark = await commit(write);
    if (this.#mark === null) throw this.#usedByOthers();
    if (hasRemains) await this.#clear();
  }

  /**
   * Adds the entries of one commit. They are written with one versionstamp, if the limits of the
   * engine permit it. Commits are written in the order of these calls.
   */
  async add(commit: readonly StoredEntry[]): Promise<void> {
    const now = Date.now();
    let mutations: StoredMutation[] = [];
    let bytes = 0;
    const { mutations: most, totalMutationBytes: mostBytes } = this.limits;
    for (const { key, value, expireAt } of commit) {
      const set = { type: "set" as const, key, value };
      const expiring = { ...set, expireAt: expireAt! };
      const added = expireAt === undefined ? [set] : [expiring, expiryHint(expiring, now)];
      const addedBytes = (key.length + 32) * added.length + value.length;
      const isFull = mutations.length + added.length > most || bytes + addedBytes > mostBytes;
      if (isFull && mutations.length > 0) {
        await this.#addWrite(mutations, bytes);
        mutations = [];
        bytes = 0;
      }
      mutations.push(...added);
      bytes += addedBytes;
    }
    await this.#addWrite(mutations, bytes);
  }

  /**
   * Continues after an interrupted run, whose commits fail from now on.
   *
   * @param mark the stored mark.
   */
  async continueFrom(mark: StoredEntry): Promise<void> {
    this.#mark = mark.versionstamp;
    await this.#readSwitch();
    await this.replaceMark(mark.value);
  }

  /** True if the database keeps a log. */
  get isLogged(): boolean {
    return this.#isLogged;
  }

  /** Half of the limits of the engine: a log may need the other half. */
  get limits(): { readonly mutations: number; readonly totalMutationBytes: number } {
    const { mutations, totalMutationBytes } = this.#shared.engine.limits;
    const half = (limit = Number.POSITIVE_INFINITY) => Math.max(1, Math.floor(limit / 2));
    return { mutations: half(mutations), totalMutationBytes: half(totalMutationBytes) };
  }

  /** Writes the rest, and gives the mark another value. */
  async replaceMark(value: Uint8Array): Promise<void> {
    await this.flush();
    this.#mark = await this.#commit([{ type: "set", key: restoreMarkKey, value }]);
  }

  /**
   * Adds the mutations of one commit, which are committed together if the limits of the engine
   * permit it.
   *
   * @param context the value that the program had passed to `context` of the commit.
   */
  async addMutations(
    mutations: readonly StoredMutation[],
    context: Uint8Array | undefined,
  ): Promise<void> {
    const { mutations: most, totalMutationBytes: mostBytes } = this.limits;
    let part: StoredMutation[] = [];
    let bytes = 0;
    for (const mutation of mutations) {
      const { key, type } = mutation;
      const added = key.length + (type === "set" ? mutation.value.length : 0);
      if (part.length > 0 && (part.length === most || bytes + added > mostBytes)) {
        await this.#addWrite(part, bytes, context);
        part = [];
        bytes = 0;
      }
      part.push(mutation);
      bytes += added;
    }
    await this.#addWrite(part, bytes, context);
  }

  /** Writes the rest, and removes the mark and other keys. */
  async end(keys: readonly Uint8Array[] = []): Promise<void> {
    await this.flush();
    const mutations = [restoreMarkKey, ...keys].map((key) => ({ type: "delete" as const, key }));
    await this.#commit(mutations);
  }

  async flush(): Promise<void> {
    const group = this.#group;
    this.#group = [];
    this.#groupBytes = 0;
    const outcomes = await awaitAll(group.map((write) => this.#shared.commit(write)));
    if (outcomes.includes(null)) throw this.#usedByOthers();
  }

  async #addWrite(
    mutations: readonly StoredMutation[],
    bytes: number,
    context?: Uint8Array,
  ): Promise<void> {
    if (mutations.length === 0) return;
    const said = context !== undefined && { context };
    this.#group.push({ checks: [this.#check], mutations, sync: this.#sync, ...said });
    this.#groupBytes += bytes;
    const { length } = this.#group;
    // The order of commits that are made together could change.
    const isOneByOne = this.#isLogged && this.#shared.engine.keepsLog !== true;
    const isFull = this.#groupBytes >= groupBytes || length >= groupCommits || isOneByOne;
    if (isFull) await this.flush();
  }

  async #clear(): Promise<void> {
    for (const range of [messageKeys, entries]) {
      let { start } = range;
      for (;;) {
        const { end } = range;
        const limit = Math.min(pageSize, this.limits.mutations);
        const page = await this.#shared.engine.getRange({
          range: { start, end },
          limit,
          reverse: false,
        });
        const last = page.at(-1);
        if (last === undefined) break;
        start = last.key;
        const others = page.filter(({ key }) => compareBytes(key, restoreMarkKey) !== 0);
        if (others.length === 0) break;
        await this.#commit(others.map(({ key }) => ({ type: "delete" as const, key })));
      }
    }
  }

  /** Makes a commit that survives a power cut. All commits before it then survive one too. */
  async #commit(mutations: readonly StoredMutation[]): Promise<string> {
    const write = { checks: [this.#check], mutations, sync: true };
    const versionstamp = await this.#shared.commit(write);
    if (versionstamp === null) throw this.#usedByOthers();
    return versionstamp;
  }

  async #readSwitch(): Promise<void> {
    this.#isLogged = (await this.#shared.engine.get(logSwitchKey)) !== undefined;
  }

  #usedByOthers(): Error {
    return this.#errorOf("another program has written to it");
  }

  get #check(): StoredCheck {
    return { key: restoreMarkKey, versionstamp: this.#mark };
  }
}
