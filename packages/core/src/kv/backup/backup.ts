import { setTimeout } from "node:timers/promises";
import { type Progress, ProgressMeter } from "../../engine/progress.js";
import { BackupDamagedError, BackupFullNeededError } from "../../errors/backup-errors.js";
import { InvalidOptionError, LogOffError } from "../../errors/core-errors.js";
import { EmbeddedKv } from "../embedded-kv.js";
import { readLogState } from "../log/log-state.js";
import type { SharedEngine } from "../open/shared-engine.js";
import { nextGeneration, readCatalog, readManifest, upToOf } from "./backup-catalog.js";
import { type BackupKey, backupKey } from "./backup-object.js";
import type { BackupSink } from "./backup-sink.js";
import { removeBackups } from "./remove-backups.js";
import { writeFull } from "./write-full.js";
import { addCommits, type LogPosition } from "./write-log.js";

/** Milliseconds between two reads of the log. */
const interval = 1000;

/** Options of `backup`. */
export interface BackupOptions {
  /**
   * True to add the commits since the last backup of the sink, which the log of the database has.
   * The default is false: a full backup.
   */
  readonly incremental?: boolean | undefined;
  /** True to make a full backup if `incremental` is not possible. The result has the reason. */
  readonly fullIfNeeded?: boolean | undefined;
  /** True to continue: commits are added every second, until `signal` is aborted. */
  readonly follow?: boolean | undefined;
  /** How many full backups, with what was added to them, stay. By default, all of them do. */
  readonly keep?: number | undefined;
  /** Encrypts the backup: at least 32 random bytes. Each backup of a sink has the same key. */
  readonly key?: Uint8Array | undefined;
  /**
   * Ends the backup. One that follows resolves with its result. Another one rejects with the
   * reason, and leaves the sink as a backup that was interrupted does.
   */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
}

/** Entries of a full backup, and commits that are added. */
export type BackupProgress = Progress<"backing up" | "following">;

/** The result of a backup. */
export interface BackupResult {
  /** The kind of the backup. A full one that follows is also full. */
  readonly kind: "full" | "incremental";
  /** Why a full backup was needed, if `incremental` was not possible. */
  readonly fullReason: string | undefined;
  /** Entries and messages of the full backup. 0 if the backup is incremental. */
  readonly entries: number;
  /** Messages of the queue among them. */
  readonly messages: number;
  /** Commits that were added. */
  readonly commits: number;
  /** Bytes of the objects that were written. */
  readonly storedBytes: number;
  /** The versionstamp of the state that the backup has now. */
  readonly versionstamp: string;
}

/**
 * Writes one state of a database into a sink while programs use it: all entries with their expiry
 * times, and the messages of the queue. `restore` makes a database of it. Memory holds a few
 * chunks of 4 MiB.
 *
 * With `incremental`, it writes what the commits since the last backup have changed. So a backup
 * can be made every minute, and `restore` can restore each moment between two of them. The
 * database has to keep a log (the option `log` of `openKv`).
 *
 * A backup that is interrupted leaves objects without a manifest. They are never restored, and the
 * next full backup with `keep` removes them.
 *
 * ```ts
 * await backup(kv, folderSink("/backups/app"));
 * ```
 *
 * @throws {BackupFullNeededError} with `incremental`, if the sink has no backup of the database or
 * the log does not have all commits since then.
 * @throws {LogOffError} with `follow`, if the database keeps no log.
 * @throws {BackupDatabaseError} if the engine of the database has no views.
 * @throws {BackupKeyError} if the backup to be continued has another key.
 * @throws {ReadViewEndedError} if the engine can no longer read the state.
 * @throws {InvalidOptionError} if an option is not valid.
 */
export async function backup(
  kv: EmbeddedKv,
  sink: BackupSink,
  options: BackupOptions = {},
): Promise<BackupResult> {
  const shared = EmbeddedKv.sharedOf(kv, "backup");
  const { keep } = options;
  if (keep !== undefined && !(Number.isSafeInteger(keep) && keep > 0))
    throw new InvalidOptionError("keep", "must be a whole number above 0", "backup");
  const run = new BackupRun(shared, sink, options);
  return await run.result();
}

class BackupRun {
  readonly #shared: SharedEngine;
  readonly #sink: BackupSink;
  readonly #options: BackupOptions;
  readonly #key: BackupKey | undefined;
  readonly #meter: ProgressMeter<"backing up" | "following">;
  #entries = 0;
  #messages = 0;
  #commits = 0;
  #storedBytes = 0;
  #versionstamp = "";
  #fullReason: string | undefined;

  constructor(shared: SharedEngine, sink: BackupSink, options: BackupOptions) {
    this.#shared = shared;
    this.#sink = sink;
    this.#options = options;
    this.#key = backupKey(options.key, "backup");
    this.#meter = new ProgressMeter<"backing up" | "following">(
      options.onProgress ?? (() => undefined),
    );
  }

  async result(): Promise<BackupResult> {
    const { incremental = false, follow = false, signal } = this.#options;
    signal?.throwIfAborted();
    const isStopped = () => signal?.aborted === true;
    await this.#assertLog(follow);
    let at = incremental ? await this.#orFull(() => this.#continue()) : await this.#full();
    const kind = this.#entries > 0 || !incremental || this.#fullReason ? "full" : "incremental";
    if (follow) {
      this.#meter.begin("following");
      while (!isStopped()) {
        await setTimeout(interval, undefined, { signal }).catch(() => undefined);
        const { position } = at;
        const isCovering = isStopped();
        at = await this.#orFull(() => this.#add(at, isCovering));
        if (at.position !== position) this.#meter.advance(this.#commits);
      }
    }
    return {
      kind,
      fullReason: this.#fullReason,
      entries: this.#entries,
      messages: this.#messages,
      commits: this.#commits,
      storedBytes: this.#storedBytes,
      versionstamp: this.#versionstamp,
    };
  }

  async #orFull(continued: () => Promise<LogPosition>): Promise<LogPosition> {
    try {
      return await continued();
    } catch (error) {
      const mayBeFull = this.#options.fullIfNeeded === true;
      if (!(mayBeFull && error instanceof BackupFullNeededError)) throw error;
      this.#fullReason = error.reason;
      return await this.#full();
    }
  }

  /** @throws {LogOffError} if a log is needed and the database keeps none. */
  async #assertLog(isNeeded: boolean): Promise<void> {
    if (isNeeded && (await readLogState(this.#shared.engine)) === undefined)
      throw new LogOffError();
  }

  /** Adds to the last backup of the sink. */
  async #continue(): Promise<LogPosition> {
    const last = await this.#last();
    if (last === undefined) throw new BackupFullNeededError("the sink has no backup");
    return await this.#add(last, true);
  }

  /**
   * Returns where the last backup of the sink ends. Undefined if it has none.
   *
   * @throws {BackupFullNeededError} if nothing can be added to it.
   */
  async #last(): Promise<LogPosition | undefined> {
    const last = (await readCatalog(this.#sink)).generations.at(-1);
    if (last === undefined) return undefined;
    const { log, position } = await readManifest(this.#sink, last.name, this.#key);
    if (log === null || position === null)
      throw new BackupFullNeededError("the database had no log at the last full backup");
    const lastLog = last.logs.at(-1);
    const at = lastLog === undefined ? position : upToOf(lastLog);
    return { generation: last.name, log, position: at };
  }

  async #add(at: LogPosition, isCovering: boolean): Promise<LogPosition> {
    const options = { key: this.#key, isCovering };
    const added = await addCommits(this.#shared.engine, this.#sink, at, options);
    this.#commits += added.commits;
    this.#storedBytes += added.storedBytes;
    this.#versionstamp = added.position;
    return { ...at, position: added.position };
  }

  async #full(): Promise<LogPosition> {
    const { signal, keep, follow = false } = this.#options;
    const previous = await unlessUseless(() => this.#last());
    const generation = nextGeneration(await readCatalog(this.#sink));
    this.#meter.begin("backing up");
    const { manifest, storedBytes } = await writeFull(this.#shared, this.#sink, {
      ...{ generation, key: this.#key, signal },
      onEntries: (entries) => this.#meter.advance(entries),
    });
    this.#entries += manifest.entries + manifest.messages;
    this.#messages += manifest.messages;
    this.#storedBytes += storedBytes;
    if (previous !== undefined) {
      // So the sink also has the moments between the backup before and this one.
      const commits = this.#commits;
      await unlessUseless(() => this.#add(previous, true));
      this.#commits = commits;
    }
    this.#versionstamp = manifest.versionstamp;
    if (keep !== undefined) await removeBackups(this.#sink, { keep, newest: generation });
    const { log, position } = manifest;
    if (log !== null && position !== null) return { generation, log, position };
    await this.#assertLog(follow);
    // Nothing can be added to it.
    return { generation, log: "", position: manifest.versionstamp };
  }
}

/** Returns undefined if the backup before cannot be continued. */
async function unlessUseless<T>(use: () => Promise<T>): Promise<T | undefined> {
  try {
    return await use();
  } catch (error) {
    const isUseless = error instanceof BackupFullNeededError || error instanceof BackupDamagedError;
    if (isUseless) return undefined;
    throw error;
  }
}
