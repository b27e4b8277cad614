import { BackupDamagedError } from "../../errors/backup-errors.js";
import type { EmbeddedKv } from "../embedded-kv.js";
import { openKv } from "../open-kv.js";
import { readCatalog, readManifest } from "./backup-catalog.js";
import { backupKey, decodeObject } from "./backup-object.js";
import type { BackupSink } from "./backup-sink.js";
import { type RestoreOptions, restore } from "./restore.js";

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

/**
 * Verifies the checksum of every object of a sink and the number of entries of each, and restores
 * the last state into memory.
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
  let verified = 0;
  for (const name of objects) {
    options.signal?.throwIfAborted();
    if (unfinished.some((each) => name.startsWith(each))) continue;
    const bytes = await sink.get(name);
    await decodeObject(name, bytes, key, "a part of the backup").body();
    storedBytes += bytes!.length;
    verified++;
  }
  for (const { name } of generations) {
    const { chunks } = await readManifest(sink, name, key);
    const stored = objects.filter((each) => each.startsWith(`${name}/`) && each.endsWith(".chunk"));
    if (stored.length !== chunks.length)
      throw new BackupDamagedError(name, `it has ${stored.length} of its ${chunks.length} chunks`);
  }
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
      ...{ objects: verified, storedBytes, entries, messages, versionstamp, time },
    };
  } finally {
    await kv.close();
  }
}
