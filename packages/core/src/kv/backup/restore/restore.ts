import { textOfBytes } from "../../../bytes/text-of-bytes.js";
import { hasExpired, type StoredEntry } from "../../../engine/engine.js";
import type { DatabaseMode } from "../../../engine/level/database-header.js";
import { type Progress, ProgressMeter } from "../../../engine/progress.js";
import type { BackupDamagedError } from "../../../errors/backup-errors.js";
import { DatabaseModeError, InvalidOptionError } from "../../../errors/core-errors.js";
import { assertVersionstamp } from "../../../values/versionstamp.js";
import { EmbeddedKv } from "../../embedded-kv.js";
import { assertKeepsLog, changeLog } from "../../log/keep-log.js";
import { type LogOptions, logSettings } from "../../log/log-options.js";
import type { KvPlace, OpenKvOptions } from "../../open/open-handle.js";
import { openKvFor } from "../../open-kv.js";
import { isMessageKey } from "../../queue/message-key.js";
import type { BackupSink } from "../backup-sink.js";
import { BackupSource, type Moment } from "../backup-source.js";
import { backupKey } from "../format/backup-object.js";
import { encodeEntry, entriesOfBlock } from "../format/entry-block.js";
import { RestoreTarget } from "./restore-target.js";
import { type SortedItem, SortedItems } from "./sorted-items.js";
import { statesAt } from "./states-at.js";

/** Options of `restore`. */
export interface RestoreOptions {
  /**
   * The moment to restore: a time, or the versionstamp of a commit. The restored state is that
   * after the last commit up to this moment. The default is the last state of the backup.
   */
  readonly at?: Date | string | undefined;
  /**
   * True to restore what can be read of a damaged backup: the entries of the sound chunks of the
   * full backup, and the commits before the first that is damaged. The result lists the damage.
   */
  readonly partial?: boolean | undefined;
  /**
   * The failure that the commits of the restore survive, as the option of `openKv`. With
   * `"relaxed"`, a power cut may require that the restore is repeated: the database cannot be
   * opened before its end. The default is `"full"`.
   */
  readonly durability?: OpenKvOptions["durability"];
  /** Keeps a log from the end of the restore on, as the option of `openKv`. */
  readonly log?: LogOptions | undefined;
  /** The key with which the backup was encrypted. */
  readonly key?: Uint8Array | undefined;
  /** Ends the restore with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RestoreProgress) => void) | undefined;
}

/** Entries that were read from the backup, and entries that were written. */
export type RestoreProgress = Progress<"reading" | "restoring">;

/** The result of a restore. */
export interface RestoreResult {
  /** Entries that the database now has. */
  readonly entries: number;
  /** Messages of the queue that the database now has. */
  readonly messages: number;
  /** Entries of the state that have expired since, and were not written. */
  readonly expired: number;
  /** When the restored state was read or its last commit was made. */
  readonly time: Date;
  /** The versionstamp that the last commit of the state had in the database of the backup. */
  readonly versionstamp: string;
  /** What was lost. Empty without `partial`. */
  readonly damage: readonly BackupDamagedError[];
}

/**
 * Restores a backup into an empty database on any engine. The database gets versionstamps of its
 * own, in the order of those of the backup, because entries are written in the order of the commits
 * that wrote them. Entries of one commit have one versionstamp again, unless they exceed a limit of
 * the engine. Entries that have expired since are left out.
 *
 * Nothing is written before the whole backup has been read and verified. If the restore is
 * interrupted after that, the database cannot be opened until it has been restored: call again, and
 * what was written is removed first.
 *
 * Memory holds at most 128 MiB of the backup. If it is larger, it is sorted in temporary files,
 * which need as much space as the entries.
 *
 * ```ts
 * await restore(folderSink("/backups/app"), "./data", { at: new Date("2026-07-01T12:00:00Z") });
 * ```
 *
 * @param target where `openKv` opens the database, or the open database.
 * @throws {BackupMomentError} if the sink has no backup, or not the state of this moment.
 * @throws {BackupDamagedError} if the backup is damaged, unless `partial` is true.
 * @throws {BackupKeyError} if the backup is encrypted and `key` is not its key.
 * @throws {BackupFormatError} if a later version has written the backup.
 * @throws {BackupDatabaseError} if the database is not empty, or another program writes to it.
 * @throws {DatabaseModeError} if the open database has the other `compat`.
 * @throws {LogUnsupportedError} with `log`, if another process owns the database.
 * @throws {InvalidOptionError} if an option is not valid.
 */
export async function restore(
  sink: BackupSink,
  target: KvPlace | EmbeddedKv,
  options: RestoreOptions = {},
): Promise<RestoreResult> {
  const { at, partial = false, signal, durability = "full", log } = options;
  assertMoment(at);
  if (durability !== "full" && durability !== "relaxed")
    throw new InvalidOptionError("durability", 'must be "full" or "relaxed"', "restore");
  const settings = log === undefined ? undefined : logSettings(log);
  const damage: BackupDamagedError[] = [];
  const source = await BackupSource.open(sink, {
    at,
    key: backupKey(options.key, "restore"),
    onDamage: (error) => {
      if (!partial) throw error;
      damage.push(error);
    },
  });
  const meter = new ProgressMeter<"reading" | "restoring">(options.onProgress ?? (() => undefined));
  const sorted = new SortedItems();
  try {
    meter.begin("reading");
    let read = 0;
    for await (const entry of statesAt(source)) {
      signal?.throwIfAborted();
      sorted.add(itemOf(entry));
      if (++read % 10_000 === 0) meter.advance(read, source.manifest.entries);
    }
    const written = await withTarget(target, source.manifest.mode, async (database) => {
      const shared = EmbeddedKv.sharedOf(database, "restore");
      if (settings !== undefined) assertKeepsLog(shared);
      const writer = new RestoreTarget(shared, { sync: durability === "full" });
      await writer.begin();
      meter.begin("restoring");
      const counts = await writeAll(sorted, writer, signal, (done) => meter.advance(done, read));
      await writer.flush();
      if (settings !== undefined) await changeLog(shared, settings);
      await writer.end();
      return counts;
    });
    const { versionstamp, time } = source.lastCommit ?? source.manifest;
    return { ...written, time: new Date(time), versionstamp, damage };
  } finally {
    sorted.remove();
  }
}

/** Entries sort in the order of their commits. Messages come last, as they may be delivered. */
export function itemOf(entry: StoredEntry): SortedItem {
  const { key, versionstamp } = entry;
  const first = isMessageKey(key) ? `m${versionstamp}` : versionstamp;
  return { first, second: textOfBytes(key), payload: encodeEntry(entry) };
}

/** Writes items that were made by {@link itemOf}, in their order. */
export async function writeAll(
  sorted: SortedItems,
  writer: RestoreTarget,
  signal: AbortSignal | undefined,
  onWritten: (entries: number) => void,
): Promise<Pick<RestoreResult, "entries" | "messages" | "expired">> {
  const counts = { entries: 0, messages: 0, expired: 0 };
  let commit: StoredEntry[] = [];
  let last = "";
  for (const { first, payload } of sorted.sorted()) {
    const [entry] = entriesOfBlock(Buffer.from(payload.buffer, payload.byteOffset, payload.length));
    if (first !== last) {
      signal?.throwIfAborted();
      await writer.add(commit);
      commit = [];
      last = first;
    }
    if (hasExpired(entry!, Date.now())) counts.expired++;
    else {
      commit.push(entry!);
      counts[isMessageKey(entry!.key) ? "messages" : "entries"]++;
      const done = counts.entries + counts.messages;
      if (done % 10_000 === 0) onWritten(done);
    }
  }
  await writer.add(commit);
  return counts;
}

/** Opens a database that may have an unfinished restore, unless it is open. */
export async function withTarget<T>(
  target: KvPlace | EmbeddedKv,
  mode: DatabaseMode,
  use: (kv: EmbeddedKv) => Promise<T>,
): Promise<T> {
  if (target instanceof EmbeddedKv) {
    const shared = EmbeddedKv.sharedOf(target, "restore");
    if (shared.mode !== mode) throw new DatabaseModeError(shared.mode, shared.path);
    return await use(target);
  }
  const kv = await openKvFor("restore", target, mode === "deno" ? { compat: "deno" } : {});
  try {
    return await use(kv);
  } finally {
    await kv.close();
  }
}

function assertMoment(at: unknown): asserts at is Moment | undefined {
  if (typeof at === "string") assertVersionstamp(at);
  else if (at !== undefined && !(at instanceof Date && !Number.isNaN(at.getTime())))
    throw new InvalidOptionError("at", "must be a Date or a versionstamp", "restore");
}
