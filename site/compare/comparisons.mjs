/**
 * The pages that compare Keywright with another. Each cell of the other has a source. Each cell of
 * Keywright has the test of its feature.
 */
export const comparisons = [
  {
    file: "prisma",
    title: "Prisma",
    choose:
      "Choose Prisma if your data is in an SQL database or MongoDB, if other programs query it with SQL, or if you need queries that you cannot plan for.",
    contender: ["prisma", "Prisma on SQLite"],
    cells: [
      ["compiled", "compiles; the database may read the whole table", "prismaIndexes"],
      [
        "transactions",
        "the database's isolation levels; `Serializable` is an option",
        "prismaTransactions",
      ],
      ["scopes", "by a client extension that you write", "prismaMiddleware"],
      ["live", "not in the client: a separate service for changes of the database", "prismaLive"],
      ["adHoc", "yes: any field can be in `where`", "prismaIndexes"],
    ],
  },
  {
    file: "drizzle",
    title: "Drizzle",
    choose:
      "Choose Drizzle if you want to write SQL with types, or if your data is in an SQL database that other programs use too.",
    contender: ["drizzle", "Drizzle on better-sqlite3, query built each time"],
    cells: [
      ["adHoc", "yes: it is a typed layer on top of SQL", "drizzleQueries"],
      ["build", "SQL files, which `drizzle-kit migrate` applies", "drizzleKit"],
      [
        "oldPrograms",
        "the schema is compared when you generate a migration, not when a program writes",
        "drizzleGenerate",
      ],
    ],
  },
  {
    file: "deno-kv",
    title: "Deno KV by hand",
    choose:
      "Choose Deno KV alone if your program runs on Deno Deploy and has few keys whose indexes you want to write yourself. Models of Keywright also run on `Deno.openKv()`, and `@keywright/core` has the same interface.",
    contender: ["deno-kv", "`@deno/kv`, with index entries written by hand"],
    cells: [
      ["entries", "you write them in an atomic operation", "denoIndexes"],
      ["compiled", "there are no queries by value: you make indexes yourself", "denoIndexes"],
      [
        "transactions",
        "atomic operations with checks of versionstamps; you repeat them",
        "denoTransactions",
      ],
      ["unique", "a commit that is not `ok`; you find out why", "denoTransactions"],
    ],
    notes: [
      ["Limits of one commit: 1,000 mutations, values of 64 KiB, keys of 2 KiB.", "denoLimits"],
      ["Deno asks for `--unstable-kv`, and says that Deno KV may still change.", "denoStart"],
    ],
  },
  {
    file: "kvdex",
    title: "kvdex",
    choose:
      "Choose kvdex if you only use Deno KV, and want collections with indexes and no dependency. `keywright adopt` reads what kvdex has stored.",
    cells: [
      ["entries", "written with the document, by indexable collections", "kvdex"],
      ["unique", "the operation fails: a result that is not `ok`", "kvdex"],
      ["compiled", "`filter` runs over the documents of a collection", "kvdex"],
      ["totals", "`count` only; with a filter it reads the documents", "kvdex"],
    ],
  },
];
