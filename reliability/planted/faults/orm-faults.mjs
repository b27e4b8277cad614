/** Faults of @keywright/orm and @keywright/sqlite. See core-faults.mjs. */
export const ormFaults = {
  "stale-entry": {
    about: "an update that changes the entries of two indexes removes only the first old entry",
    file: "orm/dist/derived/entries/entries.js",
    edits: [["for (const entry of removed) {", "for (const entry of removed.slice(0, 1)) {"]],
    campaigns: ["kill"],
  },
  "missing-entry": {
    about: "a row that an update makes part of an index with a condition gets no entry",
    file: "orm/dist/model/indexes/compile-index.js",
    edits: [
      [
        "const fields = [...plain, ...Object.keys(condition ?? {}), ...(reads ?? [])];",
        "const fields = [...plain, ...(reads ?? [])];",
      ],
    ],
    campaigns: ["queries"],
    improved:
      "37,400 calls beside SQLite did not find it, because no index had a condition. One now has.",
  },
  "stale-sum": {
    about: "the sums of an index stay as they are if an update changes only the summed field",
    file: "orm/dist/derived/entries/row-entries.js",
    edits: [
      [
        `!isUntouched(index, stored, row) ||
        summedFields(snapshot, index).some((field) => stored[field] !== row[field]));`,
        "!isUntouched(index, stored, row));",
      ],
    ],
    campaigns: ["transactions"],
  },
  "unchecked-unique": {
    about: "a unique key is read before the commit, and the commit does not check it",
    file: "orm/dist/write/commit/commit-change.js",
    edits: [
      [
        `if (takeover === undefined)
            checks.push({ key: claim.key, versionstamp: null });
        else
            checks.push(...takeover);`,
        `if (takeover !== undefined)
            checks.push(...takeover);`,
      ],
      [
        "const { primaryKey, effects } = planned;",
        `const { primaryKey, effects } = planned;
        for (const entry of effects.claims) {
            const { owner } = await claimUniqueKey(viewOf(context, catalog), entry, primaryKey);
            if (owner !== undefined)
                throw takenError(model, { ...entry, owner });
        }`,
      ],
    ],
    campaigns: ["races"],
    improved:
      "1,034 schedules did not find it, because no rows claimed the same unique value at the same time. A scenario now does that.",
  },
  "unfenced-lease": {
    about: "the commits of a migration do not check its lease",
    file: "orm/dist/state/run/lease.js",
    edits: [["operation.check({ key: leaseKey, versionstamp: this.#versionstamp });\n", "\n"]],
    campaigns: ["races"],
    improved:
      "525 schedules did not find it, because no program took a migration over that another one was running. A scenario now does that.",
  },
  "skipped-row": {
    about: "a migration skips the last row of the last batch",
    file: "orm/dist/state/run/build-in-batches.js",
    edits: [
      [
        "await add(rows, state)",
        "await add(isLast && rows.length > 1 ? rows.slice(0, -1) : rows, state)",
      ],
    ],
    campaigns: ["races", "kill"],
  },
  "claimed-twice": {
    about: "a worker takes a job although another one has taken it since it was listed",
    file: "orm/dist/jobs/work/claim-jobs.js",
    edits: [[`if (stored?.row.state !== "waiting")`, "if (stored === undefined)"]],
    campaigns: ["jobs"],
  },
  "dropped-document": {
    about: "a merge of text segments drops a document if the next one comes from another segment",
    file: "orm/dist/derived/text/compact/merged-docs.js",
    edits: [["if (difference === 0)", "if (chosen >= 0 && difference <= 0)"]],
    campaigns: ["searches"],
    improved: "No campaign had a text index. Searches are now compared with a look at all rows.",
  },
  "stale-head": {
    about: "a process reads the last versionstamp before it has the lock of the SQLite file",
    file: "sqlite/dist/file-engine.js",
    edits: [
      [
        "this.#syncIf(writes.some(({ sync }) => sync));",
        `this.#connection.reading(() => this.#feed.catchUp());
            this.#syncIf(writes.some(({ sync }) => sync));`,
      ],
      [
        `if (this.#feed.catchUp())
                this.#lastOfOthers = performance.now();`,
        "",
      ],
    ],
    campaigns: ["transactionsOnSqlite"],
  },
};
