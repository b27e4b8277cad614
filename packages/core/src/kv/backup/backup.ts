import { setTimeout } from "node:timers/promises";
import { type Progress, ProgressMeter } from "../../engine/progress.js";
import { BackupDamagedError, BackupFullNeededError } from "../../errors/backup-errors.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { LogOffError } from "../../errors/log-errors.js";
import { EmbeddedKv } from "../embedded-kv.js";
import { readLogState } from "../log/log-state.js";
import type { SharedEngine } from "../open/shared-engine.js";
import type { BackupSink } from "./backup-sink.js";
import {
  type FullManifest,
  hasNext,
  readCatalog,
  readLogHeader,
  readManifest,
  upToOf,
} from "./format/backup-catalog.js";
import { type BackupKey, backupKey } from "./format/backup-object.js";
import { removeBackups } from "./remove-backups.js";
import { claimGeneration, endClaim } from "./write/claim-generation.js";
import { SmallObjects } from "./write/small-objects.js";
import { writeEntries, writeManifest } from "./write/write-full.js";
import { addCommits, type LogPosition } from "./write/write-log.js";

/** Milliseconds between two reads of the log. */
const interval = 1000;
/** After how many reads all backups of the sink are listed. */
const readsPerList = 60;

/** Options of `backup`. */
export interface BackupOptions {
  /**
   * True to add only the commits since the last backup of the sink. They are read from the log of
   * the database. The default is false: a full backup.
   */
  readonly incremental?: boolean | undefined;
  /** True to make a full backup if `incremental` is not possible. The result has the reason. */
  readonly fullIfNeeded?: boolean | undefined;
  /** True to continue: commits are added every second, until `signal` is aborted. */
  readonly follow?: boolean | undefined;
  /**
   * How many full backups to keep, together with the commits that were added to them. Older ones
   * are removed. By default, all are kept.
   */
  readonly keep?: number | undefined;
  /**
   * The key that encrypts the backup: at least 32 random bytes. All backups of a sink need the same
   * key.
   */
  readonly key?: Uint8Array | undefined;
  /**
   * Ends the backup. With `follow`, the call then resolves with its result, if the full backup is
   * complete. Otherwise it rejects with the reason of the signal, and leaves in the sink what an
   * interrupted backup leaves.
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
 * @throws {DatabaseClosedError} if the database is closed for this handle.
 * @throws {DatabaseMovedError} with `follow`, when the database was moved to another place. The
 * backup has its last commit.
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
  const assertOpen = () => void EmbeddedKv.sharedOf(kv, "backup");
  const run = new BackupRun(shared, sink, { ...options, assertOpen });
  try {
    return await run.result();
  } catch (error) {
    // The handle may have been closed during a read.
    assertOpen();
    throw error;
  }
}

interface RunOptions extends BackupOptions {
  /** Throws if the handle was closed. The database may have others. */
  readonly assertOpen: () => void;
}

class BackupRun {
  readonly #shared: SharedEngine;
  readonly #sink: BackupSink;
  readonly #options: RunOptions;
  readonly #key: BackupKey | undefined;
  readonly #meter: ProgressMeter<"backing up" | "following">;
  #entries = 0;
  #messages = 0;
  #commits = 0;
  #storedBytes = 0;
  #versionstamp = "";
  #fullReason: string | undefined;
  /** Those that were added while the backup follows the database. */
  #small: SmallObjects | undefined;

  constructor(shared: SharedEngine, sink: BackupSink, options: RunOptions) {
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
      this.#small = new SmallObjects(this.#sink, this.#key);
      this.#meter.begin("following");
      // The last read begins after the signal was aborted, and has all commits up to then.
      for (let reads = 1, isNextBegun = false, isCovering = false; !isCovering; reads++) {
        await setTimeout(interval, undefined, { signal }).catch(() => undefined);
        const { position } = at;
        isCovering = isStopped();
        this.#options.assertOpen();
        // Its last commits are added first.
        const moved = this.#movedError();
        at = await this.#orFull(() => this.#add(at, isCovering));
        const hasAdded = at.position !== position;
        if (hasAdded) this.#meter.advance(this.#commits);
        // Listing all objects every second would take long.
        if (hasAdded || isNextBegun) isNextBegun = await hasNext(this.#sink, at.generation);
        if (isNextBegun || isCovering || reads % readsPerList === 0)
          at = await this.#orFull(() => this.#addToNewest(at));
        if (moved !== undefined) throw moved;
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

  /** Returns the error of a database that was moved, which has no further commits. */
  #movedError(): unknown {
    try {
      this.#shared.fence.assertNotMoved();
      return undefined;
    } catch (error) {
      return error;
    }
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
    return await this.#addToNewest(await this.#add(last, true));
  }

  /**
   * Adds the same commits to the newest full backup, if another program has made one in the
   * meantime. A restore uses the newest full backup, so these commits would be missing otherwise.
   */
  async #addToNewest(at: LogPosition): Promise<LogPosition> {
    const newest = await this.#last();
    if (newest === undefined || newest.generation <= at.generation) return at;
    return await this.#addAgain(newest);
  }

  /** Adds commits that another backup of the sink may have, so they are not counted. */
  async #addAgain(at: LogPosition): Promise<LogPosition> {
    const commits = this.#commits;
    const added = await this.#add(at, true);
    this.#commits = commits;
    return added;
  }

  /**
   * Returns where the last backup of the sink ends. Undefined if it has none.
   *
   * @throws {BackupFullNeededError} if nothing can be added to it.
   */
  async #last(): Promise<LogPosition | undefined> {
    const last = (await readCatalog(this.#sink)).generations.at(-1);
    if (last === undefined) return undefined;
    const manifest = await readManifest(this.#sink, last.name, this.#key);
    const at = placeOf(last.name, manifest);
    if (this.#key !== undefined && !manifest.isEncrypted)
      throw new BackupFullNeededError("the last full backup is not encrypted");
    if (at.log === "")
      throw new BackupFullNeededError("the database had no log at the last full backup");
    const lastLog = last.logs.at(-1);
    if (lastLog === undefined) return at;
    // Another program may have merged the object with others in the meantime. Damage is reported by
    // a restore.
    const header = await unlessUseless(() => readLogHeader(this.#sink, lastLog, this.#key));
    return { ...at, position: upToOf(lastLog), checksum: header?.checksum };
  }

  async #add(at: LogPosition, isCovering: boolean): Promise<LogPosition> {
    const { signal, follow = false } = this.#options;
    // What is left when a backup that follows is stopped is still added.
    const options = { key: this.#key, isCovering, signal: follow ? undefined : signal };
    const added = await addCommits(this.#shared.engine, this.#sink, at, options);
    this.#commits += added.commits;
    this.#storedBytes += added.storedBytes;
    await this.#small?.add(at.generation, added.objects);
    const now = { ...at, position: added.position, checksum: added.checksum };
    this.#versionstamp = stateOf(now);
    return now;
  }

  async #full(): Promise<LogPosition> {
    const previous = await unlessUseless(() => this.#last());
    const generation = await claimGeneration(this.#sink, this.#options.signal);
    try {
      return await this.#writeFull(generation, previous);
    } finally {
      // If this fails too, the next backup with `keep` removes the claim.
      await endClaim(this.#sink, generation).catch(() => undefined);
    }
  }

  async #writeFull(generation: string, previous: LogPosition | undefined): Promise<LogPosition> {
    const { signal, keep, follow = false } = this.#options;
    this.#meter.begin("backing up");
    const options = {
      ...{ generation, key: this.#key, signal },
      onEntries: (entries: number) => this.#meter.advance(entries),
    };
    const { manifest, storedBytes } = await writeEntries(this.#shared, this.#sink, options);
    this.#entries += manifest.entries + manifest.messages;
    this.#messages += manifest.messages;
    this.#storedBytes += storedBytes;
    // The previous backup also gets the commits up to this one, so that every moment between the
    // two can be restored. This happens before the manifest is written: after that, commits are
    // added only to this backup.
    if (previous !== undefined) await unlessUseless(() => this.#addAgain(previous));
    let at = placeOf(generation, manifest);
    // The sink may already have later commits. This backup must have them before its manifest makes
    // it the newest one, or an interruption would leave a newest state without them.
    at = (await unlessUseless(() => this.#add(at, false))) ?? at;
    await writeManifest(this.#sink, manifest, options);
    at = (await unlessUseless(() => this.#add(at, false))) ?? at;
    this.#versionstamp = stateOf(at);
    if (keep !== undefined) await removeBackups(this.#sink, { keep, newest: generation });
    if (at.log === "") await this.#assertLog(follow);
    return at;
  }
}

/** Returns where a full backup ends. Nothing can be added to it if its log is empty. */
function placeOf(generation: string, manifest: FullManifest): LogPosition {
  const { log, position, positionChecksum, versionstamp } = manifest;
  return log === null || position === null
    ? { generation, oldest: versionstamp, log: "", position: versionstamp, checksum: undefined }
    : { generation, oldest: versionstamp, log, position, checksum: positionChecksum };
}

/**
 * Returns the versionstamp of the last state of a backup. The log may lack the last commit of the
 * full backup, so it is the later of two.
 */
function stateOf({ oldest, position }: LogPosition): string {
  return [oldest, position].sort().at(-1)!;
}

/** Returns undefined if nothing can be added to the previous backup. */
async function unlessUseless<T>(use: () => Promise<T>): Promise<T | undefined> {
  try {
    return await use();
  } catch (error) {
    const isUseless = error instanceof BackupFullNeededError || error instanceof BackupDamagedError;
    if (isUseless) return undefined;
    throw error;
  }
}
