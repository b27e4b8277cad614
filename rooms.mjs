// The one list of rooms. `npm run layers` checks imports against it, and CONTRIBUTING.md shows it.
//
// A room is a folder of `packages/<package>/src` with the line that says what it is for. It imports
// only itself and the rooms above it in the list. To add, move or rename a room, change its line
// here and run `npm run rooms:update`, which writes the list of CONTRIBUTING.md.

/**
 * By package: what it is for, its `rooms` from the ground up, and `folders` inside a room that are
 * worth a line. Folders of one room may import each other.
 */
export const packages = {
  core: {
    about: "the key-value database",
    rooms: {
      errors: "error classes and their codes",
      bytes: "byte strings: comparison, hexadecimal, checksums",
      keys: "key parts to bytes and back; ranges of keys",
      values: "values to bytes and back; versionstamps",
      engine: "the port to a storage engine, the commit queue, watchers",
      "engine/remote": "the protocol between a database's owner and others; the owner's side",
      "engine/remote/client": "the side of the others: one connection, made again if it breaks",
      "kv/expiry": "removes expired entries",
      kv: "the Kv interface of Deno KV, openKv and its handles",
      "kv/copy": "copies one database into another",
      "kv/repair": "cuts a database back to its last whole commits, or rescues what can be read",
      testing: "the contract suites for engines and databases",
    },
    folders: {
      "engine/level": "the engine on abstract-level: memory and LevelDB",
      "engine/level/files": "LevelDB's files: their formats, checksums and damage",
      "engine/level/repair": "cuts damaged LevelDB folders, and finds what can be read of them",
      "kv/open": "opens engines and shares them between handles",
      "kv/open/own": "decides which process owns a folder or a file, and attaches to the owner",
      "kv/read": "decodes entries; iterators of list",
      "kv/write": "atomic operations",
      "kv/watch": "streams of watch and watchRange",
      "kv/queue": "stores and delivers messages",
      "kv/deno": "compat mode: Deno's order, limits and error messages",
    },
  },
  orm: {
    about: "models on any database with the Kv interface",
    rooms: {
      "model/fields": "what a Zod schema says about its values",
      errors: "error classes, their codes and messages",
      model: "defineModel, and models compiled for use",
      indexes: "primary keys, index entries and their keys",
      "schema/functions": "the source of index functions, and the fields that they read",
      schema: "manifests: schemas and indexes as data; migrations of rows",
      catalog: "the stored state of each model and index",
      "transaction/buffer": "the uncommitted writes of a transaction, in key order",
      transaction: "reads and buffered writes that commit as one",
      context: "what every call has: the table, its settings, the read meter, the call report",
      rows: "reads and upgrades stored rows",
      "query/types": "the types of where, orderBy and conditions",
      "query/plan": "chooses an index for a query: its fields, the ranges to read, suggestions",
      relations: "references between rows: checks, guards, referrers",
      run: "the lease, the progress and the batches of a migration or a verification",
      derived: "everything that is kept for rows, one folder for each kind",
      "query/read": "reads rows and index entries by a plan",
      "query/aggregate": "counts rows, and reads sums, minima, maxima and ranks",
      "relations/load": "loads the rows that include asks for",
      "relations/filter": "conditions on related rows: finds and tests rows by them",
      "write/input": "parses and validates the data of a write; hooks",
      "write/commit": "plans a change of a row with everything derived from it, and commits it",
      "write/rows": "create, update, upsert and delete of one row",
      "write/cascade": "deletes of rows that others refer to",
      "write/many": "writes of many rows",
      "write/deleted": "restores and removes rows that are marked as deleted",
      "write/nested": "writes of a row and of the rows that it is related to, in one commit",
      live: "live queries",
      "migrate/plan": "the difference between a database and its models, as steps",
      "migrate/transform": "changes rows to a new schema",
      "migrate/verify":
        "verifies and repairs all that is derived from rows, and finds dangling references",
      migrate: "migrate and migrationStatus",
      database: "createDatabase, repositories and the calls of generated repositories",
      adopt: "takes over data that other programs have written",
      testing: "databases and factories for tests; the suite of the ORM",
    },
    folders: {
      "derived/entries": "the entries of indexes, and duplicates of unique values",
      "derived/entries/fill": "fills new indexes while programs write",
      "derived/entries/duplicates": "rows that should have the same unique value as another row",
      "derived/entries/verify": "compares rows and index entries, and repairs entries",
      "derived/layout": "the rows by another primary key, while the key changes",
      "derived/expiry": "the records of expiry times",
      "derived/counters":
        "counts and sums: keeps, builds, checks and reads them; counted rows that expire",
      "derived/ranks": "the intervals of ranked indexes: counts and finds entries, splits, merges",
      "derived/changes": "the marks of changes that live queries watch",
      "derived/copies": "fields that rows copy from the rows to which they refer",
      "database/repository": "the methods of db.users: the inferred API",
      "database/generated": "the same operations, as generated repositories call them",
      "adopt/source": "reads the layouts of the guide, kvdex and pentagon",
    },
  },
  codegen: {
    about: "the keywright command and progress bars",
    rooms: {
      errors: "error classes and their codes",
      types: "TypeScript types of Zod schemas, as text",
      project: "finds and loads the configuration and the models of a project",
      infer: "types that only the compiler knows, and their cache",
      "generate/methods": "the methods of a generated repository",
      generate: "the files of generated repositories and the lock file",
      "migration-source": "the source of a new migration",
      "inspect/entries": "keys and values as text and back",
      "inspect/stats": "sizes and counts of a database",
      "inspect/transfer": "export and import",
      introspect: "models inferred from stored entries",
      "seed/values": "random values that fit a Zod schema",
      seed: "generated rows of all models: references, unique keys, batches",
      init: "the files of a new project",
      progress: "progress bars for rows and migrations",
      "cli/terminal": "output, exit codes and signals of every command",
      "cli/adopt": "keywright adopt",
      "cli/completion": "keywright completion",
      "cli/copy": "keywright copy",
      "cli/generate": "keywright generate",
      "cli/init": "keywright init",
      "cli/introspect": "keywright introspect",
      "cli/inspect": "the commands that show and change entries, export and import",
      "cli/migrate": "keywright migrate",
      "cli/verify": "keywright verify",
      "cli/repair": "keywright repair",
      "cli/seed": "keywright seed",
      "cli/serve": "keywright serve",
      "cli/studio": "keywright studio",
      cli: "the command line",
    },
  },
  etcd: {
    about: "the engine on etcd; depends only on core",
    rooms: {
      errors: "error classes and their codes",
      client: "the calls of etcd on several endpoints; failures and repetition",
      version: "the versions of etcd that can be used",
      record: "keys, records and versionstamps as bytes",
      commit: "batches of writes as transactions; sessions and reserved revisions",
      watch: "reports the commits of all processes",
    },
  },
  postgres: {
    about: "the engine on PostgreSQL; depends only on core",
    rooms: {
      errors: "error classes, their codes, and what the errors of the server mean",
      settings: "the options of postgresEngine",
      sql: "the table, the function of commits, and the keys of the engine's own rows",
      commit: "batches of writes as parameters of the function, and its answers",
      connection: "connects to the host that accepts writes; the pool; repeated calls",
      watch: "reports the commits of all processes",
    },
  },
  lmdb: {
    about: "the engine on LMDB; depends only on core",
    rooms: {
      errors: "what the errors of LMDB mean",
      file: "the keys and records of the engine itself, and reading the file",
      open: "the options of lmdbEngine, and creating and opening the file",
      check: "reads all entries, and compares their number and their checksums",
      commit: "writes a commit",
    },
  },
  server: {
    about: "serves a database over HTTP; depends only on core",
    rooms: {
      http: "listening, tokens, hosts and bodies",
      connect: "KV Connect, the protocol of Deno KV",
    },
  },
  studio: {
    about:
      "the page that shows and edits a database (`page`) and its server (`src`); depends on core and orm",
    rooms: {
      protocol: "what the page and the server send each other",
      source: "the database and the models that are shown; errors",
      describe: "models as data for the page",
      calls: "the calls of the page: rows, keys, migrations, verification",
      streams: "changed rows as events; exports",
      access: "who may use the studio: token, cookie, host names, origins",
    },
  },
};

/** The other folders of the repository. */
export const otherFolders = {
  examples: "programs, each run by a test",
  builds: "programs that bundlers and compilers build from the packed packages, and that then run",
  reliability:
    "campaigns against durability, each in a folder of its own; short ones in `npm run test:slow`, long ones as `npm run soak:…`",
  docs: "guides; docs/internals has numbered laws with their tests, docs/adr one page per decision",
  scripts: "installation, API reports, and the tests on all runtimes",
};
