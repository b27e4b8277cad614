import { sleep } from "#platform";
import type { AtomicWrite, Engine } from "../../../engine/engine.js";
import { DatabaseMovedError, DatabaseMovingError } from "../../../errors/copy-errors.js";
import type { CommitLog } from "../../log/commit-log.js";
import {
  isMoveMarkWrite,
  isMoveOver,
  moveMarkKey,
  readMoveMark,
  type StoredMoveMark,
} from "./move-mark.js";

/**
 * Where several processes share the database, this one reads the mark again if it has not done so
 * for so many milliseconds. Only a database with a log can be moved.
 */
const longestTrust = 1000;
const longestTrustWithoutLog = 60_000;
/** How long a commit waits for the end of the move before it is refused. */
const refusalMilliseconds = 10;

/**
 * Refuses the commits of a database that is being moved or was moved, and its reads after it was
 * moved. The process that has the engine open refuses those of all its clients.
 */
export class MoveFence {
  readonly #engine: Engine;
  readonly #log: CommitLog;
  readonly #path: string | undefined;
  readonly #isOfOther: boolean;
  readonly #isShared: boolean;
  readonly #listeners = new Set<(error: DatabaseMovedError) => void>();
  #mark: StoredMoveMark | undefined;
  /** When this process has first read the mark, by `performance.now()`. */
  #seenAt = 0;
  /** A write of the mark. Later commits wait for it. */
  #storing: Promise<unknown> | undefined;
  #reloading: Promise<void> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #unwatch: (() => void) | undefined;

  constructor(engine: Engine, log: CommitLog, path: string | undefined) {
    this.#engine = engine;
    this.#log = log;
    this.#path = path;
    // The process that owns the database refuses commits. This one only has to know about reads.
    this.#isOfOther = engine.listen !== undefined;
    this.#isShared = engine.isShared === true && !this.#isOfOther;
  }

  /** Reads the mark before the first call of the database. */
  async open(): Promise<void> {
    if (this.#isOfOther) {
      const onChange = () => void this.#reloadOnce().catch(() => undefined);
      this.#unwatch = this.#engine.watch([moveMarkKey], onChange);
    }
    await this.reload();
  }

  async close(): Promise<void> {
    this.#unwatch?.();
    await this.#reloading?.catch(() => undefined);
  }

  /** Calls `listener` when the database was moved. Returns a function that ends this. */
  onMoved(listener: (error: DatabaseMovedError) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws {DatabaseMovedError} if the database was moved, as far as this process knows. */
  assertNotMoved(): void {
    const mark = this.#mark;
    if (mark?.state === "moved") throw new DatabaseMovedError(mark.to, this.#path);
    if (!this.#isShared) return;
    const trust = this.#log.isOn ? longestTrust : longestTrustWithoutLog;
    if (performance.now() - this.#readAt > trust) this.#reloadOnce().catch(() => undefined);
  }

  /**
   * Commits a write, unless the database is being moved or was moved. A write of the mark is
   * applied after all commits that were made before it and before all that are made after it.
   *
   * @throws {DatabaseMovingError} if the database is being moved.
   * @throws {DatabaseMovedError} if it was moved.
   */
  commit(write: AtomicWrite): Promise<string | null> {
    if (this.#isOfOther) return this.#log.commit(write);
    if (isMoveMarkWrite(write)) return this.#store(write);
    if (this.#storing !== undefined) return this.#storing.then(() => this.commit(write));
    return this.#mark === undefined ? this.#log.commit(write) : this.#commitMarked(write);
  }

  /** Reads the mark again. Called when commits may have to be refused. */
  async reload(): Promise<void> {
    const mark = await readMoveMark(this.#engine);
    const wasMoved = this.#mark?.state === "moved";
    this.#readAt = performance.now();
    if (mark?.version !== this.#mark?.version) this.#seenAt = this.#readAt;
    this.#mark = mark;
    if (mark?.state !== "moved" || wasMoved) return;
    const error = new DatabaseMovedError(mark.to, this.#path);
    for (const listener of [...this.#listeners]) listener(error);
  }

  /**
   * @throws {DatabaseMovingError} if the database is being moved.
   * @throws {DatabaseMovedError} if it was moved.
   */
  assertOpen(): void {
    const mark = this.#mark;
    if (mark === undefined) return;
    if (mark.state === "moved") throw new DatabaseMovedError(mark.to, this.#path);
    throw new DatabaseMovingError(mark.to, this.#path);
  }

  #reloadOnce(): Promise<void> {
    this.#reloading ??= this.reload().finally(() => {
      this.#reloading = undefined;
      // If the read has failed, the next one is not made at once.
      this.#readAt = performance.now();
    });
    return this.#reloading;
  }

  async #commitMarked(write: AtomicWrite): Promise<string | null> {
    await this.reload();
    const mark = this.#mark;
    if (mark !== undefined && isMoveOver(mark, this.#seenAt)) {
      // If the program that moves the database has not ended, its next step fails.
      const checks = [{ key: moveMarkKey, versionstamp: mark.version }];
      const mutations = [{ type: "delete", key: moveMarkKey } as const];
      await this.#store({ checks, mutations, sync: true });
      return await this.commit(write);
    }
    if (mark?.state === "moving") {
      // A program that repeats the commit at once would leave no time for the move.
      await sleep(refusalMilliseconds);
      await this.reload();
    }
    this.assertOpen();
    return await this.commit(write);
  }

  #store(write: AtomicWrite): Promise<string | null> {
    const before = this.#storing ?? Promise.resolve();
    const stored = before.then(() => this.#storeMark(write));
    const storing = stored
      .catch(() => undefined)
      .finally(() => {
        if (this.#storing === storing) this.#storing = undefined;
      });
    this.#storing = storing;
    return stored;
  }

  async #storeMark(write: AtomicWrite): Promise<string | null> {
    try {
      return await this.#log.commitMark(write);
    } finally {
      await this.reload();
    }
  }
}
