import { decodeCommitRecord, verifyCommitRecords } from "../commit-record.js";
import { readDatabaseFiles } from "../files/database-files.js";
import { openWithLogs } from "../open-with-logs.js";
import { commitRecordRange } from "../reserved-keys.js";

/**
 * Opens the LevelDB database in a folder, and returns the versionstamp of its last commit.
 *
 * @throws {CorruptionError} if commits are missing.
 */
export async function lastVersionstampOf(folder: string): Promise<string> {
  const { logs } = await readDatabaseFiles(folder);
  const level = await openWithLogs(folder, logs, false);
  try {
    const records = [];
    for await (const [key, value] of level.iterator(commitRecordRange))
      records.push(decodeCommitRecord(key, value));
    return verifyCommitRecords(records);
  } finally {
    await level.close();
  }
}
