import { ClassicLevel } from "classic-level";
import { DatabaseLockedError } from "../../../errors/core-errors.js";
import { decodeCommitRecord, verifyCommitRecords } from "../commit-record.js";
import { commitRecordRange } from "../reserved-keys.js";

/**
 * Opens the LevelDB database in a folder, and returns the versionstamp of its last commit.
 *
 * @throws {CorruptionError} if commits are missing.
 * @throws {DatabaseLockedError} if another process has opened the database meanwhile.
 */
export async function lastVersionstampOf(folder: string): Promise<string> {
  const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
  const level = new ClassicLevel<Uint8Array, Uint8Array>(folder, bytes);
  await level.open({ createIfMissing: false }).catch((error: Error) => {
    const { code } = (error.cause ?? {}) as { code?: unknown };
    throw code === "LEVEL_LOCKED" ? new DatabaseLockedError(folder, error) : error;
  });
  try {
    const records = [];
    for await (const [key, value] of level.iterator(commitRecordRange))
      records.push(decodeCommitRecord(key, value));
    return verifyCommitRecords(records);
  } finally {
    await level.close();
  }
}
