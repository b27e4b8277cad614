import { EngineFailedError, type KeyRange, type RangeListener } from "@keywright/core";
import {
  ChangeWatchers,
  CheckedVersions,
  type RecordMutation,
  textOfBytes,
} from "@keywright/core/engine";
import { LatestCommits } from "../commit/latest-commits.js";
import { decodeChangedKeys } from "../file/changed-keys.js";
import type { FileConnection } from "../file/file-connection.js";
import { decodeHead, type Head, versionstampOf } from "../file/head.js";

/** Milliseconds after which watches learn of the commits of other processes. */
const pollInterval = 50;

/**
 * Follows the commits of all processes: what was committed last, which keys range checks must find
 * changed, and which entries checks need not read again. Reports commits to watches.
 *
 * `PRAGMA data_version` says whether another connection has committed. The rows of `commits` then
 * say what. A row may be missing, because old ones are deleted: then nothing is known of the time
 * before the newest one.
 */
export class CommitFeed {
  readonly #connection: FileConnection;
  readonly #watchers = new ChangeWatchers();
  #dataVersion: number;
  #head: Head;
  #latest: LatestCommits;
  #versions = new CheckedVersions();
  #timer: NodeJS.Timeout | undefined;
  /** What watches are still to be told: keys, or undefined if they are not known. */
  #unreported: { readonly key: Uint8Array }[] | undefined = [];
  #isReporting = false;

  constructor(connection: FileConnection) {
    this.#connection = connection;
    this.#dataVersion = connection.dataVersion();
    this.#head = connection.head();
    this.#latest = new LatestCommits(versionstampOf(this.#head));
  }

  /** The state after the last commit that was followed. */
  get head(): Head {
    return this.#head;
  }

  get latest(): LatestCommits {
    return this.#latest;
  }

  get versions(): CheckedVersions {
    return this.#versions;
  }

  /**
   * Follows what other connections have committed. Returns true if they have.
   *
   * @throws {EngineFailedError} if the file has an older state than before.
   */
  catchUp(): boolean {
    const version = this.#connection.dataVersion();
    if (version === this.#dataVersion) return false;
    const rows = this.#connection
      .prepare("SELECT sequence, head, keys FROM commits WHERE sequence > ? ORDER BY sequence")
      .all(this.#head.sequence);
    if (rows.length === 0) this.#assertNewest();
    for (const [sequence, head, keys] of rows)
      this.#follow(decodeHead(sequence as number, head as Uint8Array), keys as Uint8Array);
    // Set last, so that a failure does not hide the commits.
    this.#dataVersion = version;
    return rows.length > 0;
  }

  /** Follows a group of this process. */
  noteOwn(head: Head, mutations: readonly RecordMutation[]): void {
    this.#head = head;
    // What others have committed before is reported before.
    this.#flush();
    this.#watchers.notify(mutations);
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watching(() => this.#watchers.watch(keys, onChange));
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#watching(() => this.#watchers.watchRanges(ranges, onChange));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #follow(head: Head, stored: Uint8Array): void {
    const isNext = head.sequence === this.#head.sequence + 1;
    const keys = isNext ? decodeChangedKeys(head.sequence, stored) : undefined;
    this.#head = head;
    if (keys === undefined) {
      this.#latest = new LatestCommits(versionstampOf(head));
      this.#versions = new CheckedVersions();
      this.#report(undefined);
      return;
    }
    this.#latest.addFollowed(versionstampOf(head), keys.counted);
    const all = [...keys.counted, ...keys.others];
    for (const key of all) this.#versions.forget(textOfBytes(key));
    this.#report(all);
  }

  #assertNewest(): void {
    const { sequence } = this.#connection.head();
    if (sequence >= this.#head.sequence) return;
    const cause = new Error(`commit ${this.#head.sequence} is no longer in the file`);
    throw new EngineFailedError(cause, "read");
  }

  #watching(add: () => () => void): () => void {
    // Earlier commits need not be reported to it.
    this.#connection.reading(() => this.catchUp());
    this.#flush();
    const remove = add();
    this.#timer ??= setInterval(() => this.#poll(), pollInterval).unref();
    return () => {
      remove();
      if (this.#watchers.isEmpty) this.close();
    };
  }

  #poll(): void {
    try {
      this.#connection.reading(() => this.catchUp());
    } catch {
      // The next call of the database says what has failed.
      this.#report(undefined);
    }
  }

  /** Reports later, because the caller may be a read that expects no call of a watch. */
  #report(keys: readonly Uint8Array[] | undefined): void {
    if (this.#watchers.isEmpty) return;
    if (keys === undefined) this.#unreported = undefined;
    else for (const key of keys) this.#unreported?.push({ key });
    if (this.#isReporting) return;
    this.#isReporting = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    if (!this.#isReporting) return;
    this.#isReporting = false;
    const keys = this.#unreported;
    this.#unreported = [];
    if (keys === undefined) this.#watchers.notifyUnknown();
    else this.#watchers.notify(keys);
  }
}
