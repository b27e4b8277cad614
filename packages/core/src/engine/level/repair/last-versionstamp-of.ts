import { ClassicLevel } from "classic-level";
import { decodeCommitRecord, verifyCommitRecords } from "../commit-record.js";
import { commitRecordRange } from "../reserved-keys.js";

/**
 * Opens the LevelDB database in a folder, and returns the versionstamp of its last commit.
 *
 * @throws {CorruptionError} if commits are missing.
 */
export async function lastVersionstampOf(folder: string): Promise<string> {
  const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
  const level = new ClassicLevel<Uint8Array, Uint8Array>(folder, bytes);
  await level.open({ createIfMissing: false });
  try {
    const records = [];
    for await (const [key, value] of level.iterator(commitRecordRange))
      records.push(decodeCommitRecord(key, value));
    return verifyCommitRecords(records);
  } finally {
    await level.close();
  }
}
