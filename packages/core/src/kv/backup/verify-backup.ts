import { BackupDamagedError } from "../../errors/backup-errors.js";
import type { EmbeddedKv } from "../embedded-kv.js";
import { openKv } from "../open-kv.js";
import type { BackupSink } from "./backup-sink.js";
import { logHeaderOf } from "./backup-source.js";
import {
  chunkName,
  type FullManifest,
  type Generation,
  headName,
  isClaim,
  readCatalog,
  readManifest,
  takeNextLog,
  upToOf,
} from "./format/backup-catalog.js";
import { type BackupObject, backupKey, decodeObject } from "./format/backup-object.js";
import { type RestoreOptions, restore } from "./restore/restore.js";

/** Options of `verifyBackup`. */
export interface VerifyBackupOptions extends Pick<RestoreOptions, "key" | "signal" | "onProgress"> {
  /** Called with the restored database, which is in memory, to verify more of it. */
  readonly inspect?: ((kv: EmbeddedKv) => Promise<void>) | undefined;
}

/** What a sink has, after all of it was verified. */
export interface BackupReport {
  /** Full backups that are finished. */
  readonly backups: number;
  /** Backups that were interrupted, or are being made. */
  readonly unfinished: number;
  /** Objects whose checksums match. */
  readonly objects: number;
  readonly storedBytes: number;
  /** The entries and messages of the last state. */
  readonly entries: number;
  readonly messages: number;
  /** The versionstamp and the time of the last state. */
  readonly versionstamp: string;
  readonly time: Date;
}

/** What is kept of an object that was verified. */
type VerifiedObject = Pick<BackupObject, "header" | "checksum">;

/**
 * Verifies the checksum of every object of a sink and that none is missing, and restores the last
 * state into memory.
 *
 * @throws {BackupDamagedError} for the first object that is missing or damaged.
 * @throws {BackupMomentError} if the sink has no backup.
 * @throws {BackupKeyError} if the backup is encrypted and `key` is not its key.
 * @throws {BackupFormatError} if a later version has written the backup.
 */
export async function verifyBackup(
  sink: BackupSink,
  options: VerifyBackupOptions = {},
): Promise<BackupReport> {
  const key = backupKey(options.key, "verifyBackup");
  const { generations, unfinished, objects } = await readCatalog(sink);
  let storedBytes = 0;
  const verified = new Map<string, VerifiedObject>();
  for (const name of objects) {
    options.signal?.throwIfAborted();
    if (isClaim(name) || unfinished.some((each) => name.startsWith(each))) continue;
    const bytes = await sink.get(name);
    // A backup that follows the database has merged it with others since it was listed.
    if (bytes === undefined && !(await readCatalog(sink)).objects.includes(name)) continue;
    const { header, checksum, body } = decodeObject(name, bytes, key, "a part of the backup");
    await body();
    storedBytes += bytes!.length;
    verified.set(name, { header, checksum });
  }
  for (const generation of generations)
    await assertWhole(sink, generation, await readManifest(sink, generation.name, key), verified);
  const { inspect, ...restoreOptions } = options;
  const last = generations.at(-1);
  // Without a backup, `restore` says so.
  const { mode } = last === undefined ? { mode: "" } : await readManifest(sink, last.name, key);
  const kv = await openKv(":memory:", mode === "deno" ? { compat: "deno" } : {});
  try {
    const { entries, messages, versionstamp, time } = await restore(sink, kv, restoreOptions);
    await inspect?.(kv);
    return {
      ...{ backups: generations.length, unfinished: unfinished.length },
      ...{ objects: verified.size, storedBytes, entries, messages, versionstamp, time },
    };
  } finally {
    await kv.close();
  }
}

/**
 * Verifies that a full backup has its chunks, and all commits up to the last one.
 *
 * @throws {BackupDamagedError} if one of them is missing.
 */
async function assertWhole(
  sink: BackupSink,
  { name, logs }: Generation,
  { chunks, log, position, versionstamp }: FullManifest,
  verified: ReadonlyMap<string, VerifiedObject>,
): Promise<void> {
  for (const [index, { checksum }] of chunks.entries()) {
    const chunk = chunkName(name, index);
    const stored = verified.get(chunk);
    if (stored === undefined) throw new BackupDamagedError(chunk, "it is missing");
    if (stored.checksum !== checksum)
      throw new BackupDamagedError(chunk, "it is not the one of the manifest");
  }
  // Some were merged since they were listed.
  if (logs.some((each) => !verified.has(each))) return;
  let last = position ?? versionstamp;
  const rest = [...logs];
  while (rest.length > 0) {
    const next = takeNextLog(rest, last) ?? rest[0];
    if (next === undefined) break;
    const { upTo } = logHeaderOf(verified.get(next)!, { name: next, log, last });
    if (upTo > last) last = upTo;
  }
  const head = verified.get(headName(name))?.header["upTo"] as string | undefined;
  if (head === undefined || head <= last) return;
  // A backup may have added commits since the objects were listed.
  const { generations } = await readCatalog(sink, name);
  if (generations[0]?.logs.some((each) => upToOf(each) >= head) !== false) return;
  const reason = `the objects of the commits after ${last} up to ${head} are missing`;
  throw new BackupDamagedError(headName(name), reason);
}
