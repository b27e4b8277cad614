/**
 * Faults of @keywright/core. Each is one mistake that a change of the sources could make.
 *
 * - `about` says what is wrong, as the rest of a sentence that begins with "In this build".
 * - `file` is a file of `packages`, as it is built. Each edit replaces a text that occurs once.
 * - `campaigns` are those that reach the code, in the order in which they are tried.
 * - `improved` says what a campaign learned so that it finds the fault, and what it found before.
 */
export const coreFaults = {
  "stale-version": {
    about: "the version of a key that a check has read is not forgotten when the key is deleted",
    file: "core/dist/engine/commit/write-group.js",
    edits: [
      ["this.#options.versions.forget(text);", "state && this.#options.versions.forget(text);"],
    ],
    campaigns: ["calls", "transactions"],
  },
  "blind-range-check": {
    about: "a range check does not see that a key of the range was deleted",
    file: "core/dist/engine/commit/write-group.js",
    edits: [
      [
        `else if (type === "delete") {
            this.#change(key, null);`,
        `else if (type === "delete") {
            this.#change(key, null, false);`,
      ],
    ],
    campaigns: ["transactions"],
  },
  "short-batch": {
    about: "a list leaves out the last entry of each full batch, except the last batch",
    file: "core/dist/kv/read/list-iterator.js",
    edits: [
      [
        "this.#batch = batch;",
        "this.#batch = batch.length < limit || this.#remaining === 0 ? batch : batch.slice(0, -1);",
      ],
    ],
    campaigns: ["damage"],
  },
  "endless-expiry": {
    about: "a read of one key on LevelDB returns an entry that has expired",
    file: "core/dist/engine/level/level-reads.js",
    edits: [
      [
        "return entry?.expireAt === undefined ? entry : unexpired(entry, this.#now());",
        "return entry;",
      ],
    ],
    campaigns: ["transactionsOnDisk", "log"],
  },
  "moving-view": {
    about:
      "a view on LevelDB does not keep its state while a commit is written, if it has one user",
    file: "core/dist/engine/level/level-engine.js",
    edits: [
      [
        `if (held !== undefined)
            held.snapshot ??=`,
        `if (held !== undefined && held.users > 1)
            held.snapshot ??=`,
      ],
    ],
    campaigns: ["transactionsOnDisk"],
  },
  "split-commit": {
    about: "LevelDB gets a group of more than 2,000 changes in two batches",
    file: "core/dist/engine/level/level-engine.js",
    edits: [
      ["const batch = this.#level.batch();", "let batch = this.#level.batch();"],
      [
        `if (i % mutationsPerTurn === mutationsPerTurn - 1)
                    await nextTurn();
                if (record === undefined)
                    batch.del`,
        `if (i % mutationsPerTurn === mutationsPerTurn - 1) {
                    await batch.write(bytes);
                    batch = this.#level.batch();
                }
                if (record === undefined)
                    batch.del`,
      ],
    ],
    campaigns: ["power"],
    improved:
      "88 power cuts did not find it, because all commits were small. A few now set 2,100 keys.",
  },
  "unsynced-folder": {
    about: "the folder is not synced after LevelDB has started a new log",
    file: "core/dist/engine/level/log-sync.js",
    edits: [["        await syncPath(this.#folder);\n", ""]],
    campaigns: ["power"],
    improved:
      "80 power cuts did not find it, because few of them came between the beginning of a log and the next sync of its folder. A third of them now do.",
  },
  "unclosed-log": {
    about:
      "a torn record at the end of a log counts as interrupted, also if the database was closed",
    file: "core/dist/engine/level/files/database-files.js",
    edits: [["if (isFollowed || offset < closedSize)", "if (isFollowed)"]],
    campaigns: ["damage"],
  },
  "unchecked-block": {
    about: "the checksums of the blocks of tables are not compared",
    file: "core/dist/engine/level/files/table-block.js",
    edits: [
      [
        "return end + 4 <= table.length && hasMaskedChecksum(table, end, offset, end);",
        "return end + 4 <= table.length;",
      ],
    ],
    campaigns: ["damage"],
  },
  "repeated-commit": {
    about: "a commit whose answer was lost with the owner is made again without asking for its id",
    file: "core/dist/engine/remote/server/engine-server.js",
    edits: [
      [
        `if (applied !== undefined)
                return applied;`,
        "",
      ],
    ],
    campaigns: ["attached"],
  },
  "narrow-sum": {
    about: "a sum wraps around at 2 ** 63",
    file: "core/dist/engine/commit/combine-u64.js",
    edits: [["BigInt.asUintN(64, stored + operand)", "BigInt.asUintN(63, stored + operand)"]],
    campaigns: ["deno"],
  },
  "delivered-twice": {
    about: "a process takes a message of the queue that another one has taken since it was read",
    file: "core/dist/kv/queue/held-messages.js",
    edits: [
      [
        "const checks = [{ key, versionstamp }];\n        const stored",
        "const checks = [];\n        const stored",
      ],
    ],
    campaigns: ["messages"],
    improved:
      "No campaign had several programs that listen to one queue. Three programs with one SQLite file now do.",
  },
  "missed-change": {
    about: "a watch forgets a change that comes while it reads",
    file: "core/dist/kv/watch/report-stream.js",
    edits: [
      [
        `watch.hasChanged = false;
                if (await this.#report())
                    return;`,
        `const isReported = await this.#report();
                watch.hasChanged = false;
                if (isReported)
                    return;`,
      ],
    ],
    campaigns: ["races"],
  },
  "missed-key": {
    about: "watchRange drops the keys after the thousandth without saying so",
    file: "core/dist/kv/watch/watch-range-stream.js",
    edits: [
      [
        `changed.add(text);
            else
                isComplete = false;`,
        "changed.add(text);",
      ],
    ],
    campaigns: ["races"],
    improved:
      "No schedule changed more keys than a report of `watchRange` has. One in twenty of those with watches now does.",
  },
  "unlogged-delete": {
    about: "the log has no deletes",
    file: "core/dist/engine/log/logged-changes.js",
    edits: [["({ before, after }) => before ?? after", "({ after }) => after"]],
    campaigns: ["log"],
  },
  "late-backup": {
    about: "an incremental backup begins one commit too late",
    file: "core/dist/kv/backup/write/write-log.js",
    edits: [
      [
        "for (const record of records) {",
        "for (const record of isFirst ? records.slice(1) : records) {",
      ],
    ],
    campaigns: ["log"],
  },
};
