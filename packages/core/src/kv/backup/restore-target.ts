import { randomUUID } from "node:crypto";
import { compareBytes } from "../../bytes/compare-bytes.js";
import type { AtomicWrite, StoredCheck, StoredEntry, StoredMutation } from "../../engine/engine.js";
import { logSwitchKey } from "../../engine/log/log-keys.js";
import { afterEntries, firstEntryKey } from "../../engine/system-keys.js";
import { BackupDatabaseError } from "../../errors/backup-errors.js";
import { awaitAll } from "../../values/await-all.js";
import { encodeValue } from "../../values/encode-value.js";
import { expiryHint } from "../expiry/expiry-hint.js";
import { restoreMarkKey } from "../open/restore-mark.js";
import type { SharedEngine } from "../open/shared-engine.js";
import { messageKeys } from "../queue/message-key.js";

const pageSize = 500;
/** Bytes of keys and values that are committed together. */
const groupBytes = 8 * 1024 * 1024;
const groupCommits = 10_000;
const entries = { start: firstEntryKey, end: afterEntries };

/** A database into which a backup is restored. */
export class RestoreTarget {
  readonly #shared: SharedEngine;
  /** Of the mark. Each commit checks it, so that two restores do not mix. */
  #mark: string | null = null;
  /** True if commits that are made together could change their order. */
  #isOneByOne = false;
  #group: AtomicWrite[] = [];
  #groupBytes = 0;

  constructor(shared: SharedEngine) {
    this.#shared = shared;
  }

  /**
   * Verifies that the database is empty, and marks it. What an interrupted restore has left is
   * removed.
   *
   * @throws {BackupDatabaseError} if the database has entries or messages.
   */
  async begin(): Promise<void> {
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
          if (first !== undefined) throw new BackupDatabaseError("restore", "it is not empty");
        }
        const versionstamp = view?.versionstamp;
        if (engine.checksRanges === true && versionstamp !== undefined)
          rangeChecks = [{ range: entries, versionstamp }];
      }
    } finally {
      view?.close();
    }
    const isLogged = (await engine.get(logSwitchKey)) !== undefined;
    this.#isOneByOne = isLogged && engine.keepsLog !== true;
    const value = encodeValue(randomUUID());
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
    if (this.#mark === null) throw usedByOthers();
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
    const { mutations: most, totalMutationBytes: mostBytes } = this.#limits;
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

  /** Writes the rest, and removes the mark. */
  async end(): Promise<void> {
    await this.flush();
    await this.#commit([{ type: "delete", key: restoreMarkKey }]);
  }

  async flush(): Promise<void> {
    const group = this.#group;
    this.#group = [];
    this.#groupBytes = 0;
    const outcomes = await awaitAll(group.map((write) => this.#shared.commit(write)));
    if (outcomes.includes(null)) throw usedByOthers();
  }

  async #addWrite(mutations: readonly StoredMutation[], bytes: number): Promise<void> {
    if (mutations.length === 0) return;
    this.#group.push({ checks: [this.#check], mutations, sync: true });
    this.#groupBytes += bytes;
    const { length } = this.#group;
    const isFull = this.#groupBytes >= groupBytes || length >= groupCommits || this.#isOneByOne;
    if (isFull) await this.flush();
  }

  async #clear(): Promise<void> {
    for (const range of [messageKeys, entries]) {
      let { start } = range;
      for (;;) {
        const { end } = range;
        const limit = Math.min(pageSize, this.#limits.mutations);
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

  async #commit(mutations: readonly StoredMutation[]): Promise<void> {
    const write = { checks: [this.#check], mutations, sync: true };
    if ((await this.#shared.commit(write)) === null) throw usedByOthers();
  }

  get #check(): StoredCheck {
    return { key: restoreMarkKey, versionstamp: this.#mark };
  }

  /** Half of the limits of the engine: a log may need the other half. */
  get #limits(): { readonly mutations: number; readonly totalMutationBytes: number } {
    const { mutations, totalMutationBytes } = this.#shared.engine.limits;
    const half = (limit = Number.POSITIVE_INFINITY) => Math.max(1, Math.floor(limit / 2));
    return { mutations: half(mutations), totalMutationBytes: half(totalMutationBytes) };
  }
}

function usedByOthers(): BackupDatabaseError {
  return new BackupDatabaseError("restore", "another program has written to it");
}
