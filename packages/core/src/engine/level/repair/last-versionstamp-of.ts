import { DatabaseLockedError } from "../../../errors/core-errors.js";
import { decodeCommitRecord, verifyCommitRecords } from "../commit-record.js";
import { readDatabaseFiles } from "../files/database-files.js";
import { openWithLogs } from "../open-with-logs.js";
import { commitRecordRange } from "../reserved-keys.js";

/**
 * Opens the LevelDB database in a folder, and returns the versionstamp of its last commit.
 *
 * @throws {CorruptionError} if commits are missing.
 * @throws {DatabaseLockedError} if another process has opened the database.
 */
export async function lastVersionstampOf(folder: string): Promise<string> {
  const { logs } = await readDatabaseFiles(folder);
  const level = await openWithLogs(folder, logs, { createIfMissing: false }).catch(
    (error: Error) => {
      const { code } = (error.cause ?? {}) as { code?: unknown };
      throw code === "LEVEL_LOCKED" ? new DatabaseLockedError(folder, error) : error;
    },
  );
  try {
    const records = [];
    for await (const [key, value] of level.iterator(commitRecordRange))
      records.push(decodeCommitRecord(key, value));
    return verifyCommitRecords(records);
  } finally {
    await level.close();
  }
}
