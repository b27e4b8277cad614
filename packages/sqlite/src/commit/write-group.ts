import { checksumOf, type RecordMutation } from "@keywright/core/engine";
import { type ChangedKeys, encodeChangedKeys } from "../file/changed-keys.js";
import type { EntryStatements } from "../file/entry-statements.js";
import { encodeHead, type Head } from "../file/head.js";
import { lastOfEachKey } from "./latest-commits.js";

/** Most new records have new keys, so no other record is looked for first. */
const insert = "INSERT INTO entries VALUES (?, ?) ON CONFLICT (key) DO NOTHING";
const replace = "UPDATE entries SET record = ? WHERE key = ?";
const remove = "DELETE FROM entries WHERE key = ?";
/** The last bytes of a record, which are its checksum. */
const selectChecksum = "SELECT substr(record, -4) FROM entries WHERE key = ?";
const statements = [insert, replace, remove, selectChecksum];

/** How many rows of `commits` are kept, and about how many bytes of their keys. */
const mostCommits = 1024;
const mostBytes = 32 * 1024 * 1024;
/** After how many groups, or bytes of keys of this process, old rows are deleted. */
const sweepInterval = 64;
const sweepBytes = 8 * 1024 * 1024;

/** Writes groups of commits, each in a transaction that the caller begins and ends. */
export class GroupWriter {
  readonly #statements: EntryStatements;
  #bytesSinceSweep = 0;

  constructor(statements: EntryStatements) {
    this.#statements = statements;
  }

  /**
   * Writes the mutations of a group and its row in `commits`.
   *
   * @param order that of the last commit in the group.
   * @returns the next head.
   */
  write(head: Head, order: number, mutations: readonly RecordMutation[], keys: ChangedKeys): Head {
    let { entries, checksums } = head;
    const [inserting, replacing, removing, checksumAt] = statements.map((sql) =>
      this.#statements.prepare(sql),
    );
    for (const { key, record } of lastOfEachKey(mutations)) {
      if (record !== undefined) {
        entries++;
        checksums += checksumOf(record);
        if (inserting!.run(key, record) > 0) continue;
      }
      const replaced = checksumAt!.get(key)?.[0];
      if (replaced === undefined) continue;
      entries--;
      checksums -= checksumOf(replaced as Uint8Array);
      if (record === undefined) removing!.run(key);
      else replacing!.run(record, key);
    }
    const sequence = head.sequence + 1;
    const next = { sequence, order, entries, checksums: checksums >>> 0 };
    const changed = encodeChangedKeys(sequence, keys);
    this.#statements.run(
      "INSERT INTO commits VALUES (?, ?, ?)",
      sequence,
      encodeHead(next),
      changed,
    );
    this.#bytesSinceSweep += changed.length;
    if (sequence % sweepInterval === 0 || this.#bytesSinceSweep >= sweepBytes)
      this.#deleteOldRows(sequence);
    return next;
  }

  #deleteOldRows(sequence: number): void {
    const oldest = Math.max(this.#firstWithin(mostBytes), sequence - mostCommits + 1);
    this.#statements.run("DELETE FROM commits WHERE sequence < ?", Math.min(oldest, sequence));
    this.#bytesSinceSweep = 0;
  }

  /** Returns the first of the newest rows whose keys have at most so many bytes. */
  #firstWithin(bytes: number): number {
    if (this.#bytesSinceSweep < sweepBytes) return 0;
    let left = bytes;
    const rows = this.#statements
      .prepare("SELECT sequence, length(keys) FROM commits ORDER BY sequence DESC")
      .all();
    for (const [sequence, length] of rows) {
      left -= length as number;
      if (left < 0) return (sequence as number) + 1;
    }
    return 0;
  }
}
