/** The test files whose groups are the rows of the scorecard, by the folder of their package. */
export const suites = [
  {
    folder: "packages/core",
    files: [
      "test/engine-contract.test.ts",
      "test/kv-contract.test.ts",
      "test/slow/attached-contract.test.ts",
    ],
  },
  { folder: "packages/orm", files: ["test/orm-suite.test.ts"] },
  {
    folder: "packages/lmdb",
    files: ["test/engine-contract.test.ts", "test/kv-contract.test.ts", "test/orm-suite.test.ts"],
  },
  {
    folder: "packages/sqlite",
    // Node.js 20 has no SQLite. The tests run on that of later versions, as with-sqlite.mjs does.
    except: ["node20"],
    files: ["test/engine-contract.test.ts", "test/kv-contract.test.ts", "test/orm-suite.test.ts"],
  },
  {
    folder: "packages/etcd",
    files: ["test/slow/engine-contract.test.ts", "test/slow/kv-contract.test.ts"],
  },
  {
    folder: "packages/postgres",
    files: ["test/slow/engine-contract.test.ts", "test/slow/kv-contract.test.ts"],
  },
  { folder: "packages/server", files: ["test/slow/own-client-contract.test.ts"] },
];

/** The same for browsers, which have databases in memory only. */
export const browserSuites = [
  {
    folder: "packages/core",
    files: ["test/browser/engine-contract.test.ts", "test/browser/kv-contract.test.ts"],
  },
  { folder: "packages/orm", files: ["test/browser/orm-suite.test.ts"] },
];

/**
 * The columns of the scorecard: each engine with the names that the suites give it, which are the
 * beginnings of the names of their test groups.
 */
export const engines = [
  {
    title: "memory",
    names: ["MemoryEngine", "Kv in memory", "an embedded database in memory"],
  },
  {
    title: "LevelDB",
    names: ["LevelEngine on disk", "Kv on disk", "an embedded database on disk"],
  },
  { title: "attached", names: ["Kv attached to the process that owns the folder"] },
  { title: "LMDB", names: ["LmdbEngine", "Kv on LMDB", "LMDB"] },
  { title: "SQLite", names: ["SqliteEngine", "Kv on SQLite", "SQLite"] },
  { title: "etcd", names: ["EtcdEngine", "Kv on etcd"] },
  { title: "PostgreSQL", names: ["PostgresEngine", "Kv on PostgreSQL"] },
  { title: "server", names: ["Kv over HTTP"] },
];

/** The three suites: how their groups are told apart, and what each tests. */
export const kinds = [
  { file: "orm-suite", title: "Models", about: "models, indexes, transactions and migrations" },
  { file: "kv-contract", title: "The Kv interface", about: "what every database must do" },
  { file: "engine-contract", title: "The port to an engine", about: "what every engine must do" },
];
