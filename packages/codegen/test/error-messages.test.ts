import { expect, it } from "vitest";
import {
  AdoptUnsetError,
  CallTimeoutError,
  type CodegenError,
  CommandUnfinishedError,
  ConfigInvalidError,
  ConfigMissingError,
  CopyUnsetError,
  codegenErrorCodes,
  DatabaseOpenError,
  DatabaseUnsetError,
  DenoKvMissingError,
  EngineMissingError,
  EntryMissingError,
  FileFailedError,
  ImportIncompleteError,
  ImportLineError,
  ImportRefusedError,
  InternalError,
  KeyNotationError,
  LockFileError,
  ModelDuplicateError,
  ModelsUnmatchedError,
  ModuleFailedError,
  ModuleMissingError,
  ModuleWithoutModelError,
  NameCollisionError,
  NameUnusableError,
  OutputFailedError,
  OutputOccupiedError,
  PermissionMissingError,
  ProjectCodeError,
  ProjectConfiguredError,
  ProjectFileError,
  RelationInvalidError,
  SeedFieldError,
  SeedNotEmptyError,
  SeedPackagesError,
  SeedReferenceError,
  SeedUniqueError,
  TopicUnknownError,
  TsconfigInvalidError,
  TypeInexpressibleError,
  UsageError,
} from "../src/index.js";

const cause = new Error("cause");
const missing = Object.assign(new Error("no module"), { code: "ERR_MODULE_NOT_FOUND" });

/** One error of each class, and of each kind of message. */
const errors: readonly CodegenError[] = [
  new ConfigMissingError({ tried: ["/app/keywright.config.ts"] }),
  new ConfigInvalidError({
    path: "/app/keywright.config.ts",
    at: "default",
    reason: "it is null, not an object",
  }),
  new ConfigInvalidError({
    path: "/app/keywright.config.ts",
    at: "output",
    reason: "it is not a path",
  }),
  new ModuleMissingError({ path: "/app/models/users.ts" }),
  new ModuleFailedError({ path: "/app/models/user.ts", at: "/app/lib/id.ts:3" }, cause),
  new ModuleFailedError({ path: "/app/models/user.ts", at: undefined }, missing),
  new TsconfigInvalidError({ path: "/app/tsconfig.json" }, cause),
  new ModelsUnmatchedError({ patterns: ["models/*.ts", "!models/a.ts"], folder: "/app" }),
  new ModuleWithoutModelError({ path: "/app/models/shared.ts", exports: [] }),
  new ModuleWithoutModelError({ path: "/app/models/shared.ts", exports: ["a", "b"] }),
  new ModelDuplicateError({
    model: "users",
    first: "User in /app/a.ts",
    second: "Person in /app/b.ts",
  }),
  new NameCollisionError({
    generatedName: "UserRepository.findById",
    first: "the primary key",
    second: 'index "byId"',
  }),
  new NameUnusableError({ givenName: "2fa", at: "the name of a model" }),
  new RelationInvalidError({
    model: "posts",
    at: "relations.author",
    reason: "there is no model",
    origin: "Post in /app/a.ts",
  }),
  new TypeInexpressibleError({ model: "users", path: "", reason: "it is undefined" }),
  new TypeInexpressibleError({ model: "users", path: "address.lines", reason: "it is undefined" }),
  new OutputOccupiedError({ path: "/app/db/users.ts" }),
  new OutputFailedError({ path: "/app/db" }, cause),
  new LockFileError({ path: "/app/keywright.lock.json", reason: "it cannot be read" }, cause),
  new ProjectConfiguredError({ path: "/app/keywright.config.ts" }),
  new ProjectFileError({ path: "/app/package.json" }, cause),
  new DatabaseUnsetError({ path: "/app/keywright.config.ts", at: "database" }),
  new CopyUnsetError({ path: "/app/keywright.config.ts" }),
  new DenoKvMissingError({ place: "kv.sqlite", runtime: "node" }),
  new DenoKvMissingError({ place: "kv.sqlite", runtime: "deno" }),
  new EngineMissingError({ packageName: "@keywright/etcd" }),
  new DatabaseOpenError(
    { path: "/app/keywright.config.ts", at: "/app/keywright.config.ts:7" },
    cause,
  ),
  new AdoptUnsetError({ path: "/app/keywright.config.ts" }),
  new ProjectCodeError({ at: "/app/models/user.ts:4" }, cause),
  new CommandUnfinishedError({}),
  new UsageError({ reason: "unknown option '--al'" }),
  new InternalError({}, cause),
  new PermissionMissingError({
    reason: "Requires read access, run again with the --allow-read flag",
  }),
  new TopicUnknownError({ topic: "qeries", near: ["queries"] }),
  new TopicUnknownError({ topic: "nothing", near: [] }),
  new CallTimeoutError({ tool: "find", seconds: 50, isOpen: false, writes: false }),
  new CallTimeoutError({ tool: "verify", seconds: 1, isOpen: true, writes: false }),
  new CallTimeoutError({ tool: "create", seconds: 50, isOpen: true, writes: true }),
  new KeyNotationError({
    text: '["a"',
    position: 5,
    reason: "expected a comma or the end of the array",
  }),
  new EntryMissingError({ key: '["users", 1n]' }),
  new FileFailedError({ path: "/app/backup.jsonl" }, cause),
  new ImportLineError({ line: 3, reason: "the key is not an array of parts" }),
  new ImportIncompleteError({ entries: 1, announced: undefined }),
  new ImportIncompleteError({ entries: 1, announced: 2 }),
  new ImportRefusedError({ line: 3, key: '["users", 1n]' }, cause),
  new SeedPackagesError({ packageNames: ["@faker-js/faker", "randexp"] }),
  new SeedNotEmptyError({ models: ["users", "posts"] }),
  new SeedFieldError({
    model: "post_tags",
    property: "postTags",
    path: "address.zip",
    reason: "none of 200 generated values passed",
  }),
  new SeedFieldError({
    model: "post_tags",
    property: "postTags",
    path: "",
    reason: "none of 200 generated rows passed",
  }),
  new SeedReferenceError({
    model: "posts",
    fields: ["authorId"],
    target: { model: "users", property: "users" },
  }),
  new SeedUniqueError({ model: "users", index: "byCode", count: 10, requested: 20 }),
  new SeedUniqueError({ model: "users", index: "primaryKey", count: 10, requested: 20 }),
];

it("each error says what is wrong, with what, and what to do", () => {
  expect(errors.map(String).join("\n")).toMatchInlineSnapshot(`
    "ConfigMissingError: there is no configuration file (tried /app/keywright.config.ts); create one with \`npx keywright init\`, or name another file with --config
    ConfigInvalidError: /app/keywright.config.ts: default export: it is null, not an object; the file must export \`defineConfig({ models: "src/models/*.ts", output: "src/db" })\` as default
    ConfigInvalidError: /app/keywright.config.ts: output: it is not a path; the file must export \`defineConfig({ models: "src/models/*.ts", output: "src/db" })\` as default
    ModuleMissingError: /app/models/users.ts: this path in \`models\` is not a file; write a path or a pattern such as "src/models/*.ts", relative to the configuration file
    ModuleFailedError: /app/models/user.ts: loading the module failed at /app/lib/id.ts:3; correct it as the cause says. The module must load without a database and without arguments
    ModuleFailedError: /app/models/user.ts: loading the module failed; correct the import that the cause names: install the package, or add a path alias to \`paths\` of tsconfig.json
    TsconfigInvalidError: /app/tsconfig.json: what it extends cannot be read; correct \`extends\` as the cause says, or install the package that it names
    ModelsUnmatchedError: models: no file matches models/*.ts, !models/a.ts; correct the pattern, which is relative to /app
    ModuleWithoutModelError: /app/models/shared.ts: the module exports no model; export what \`defineModel\` returns, or exclude the module from \`models\`, as with "!src/models/shared.ts"
    ModuleWithoutModelError: /app/models/shared.ts: the module exports no model, only a, b; export what \`defineModel\` returns, or exclude the module from \`models\`, as with "!src/models/shared.ts"
    ModelDuplicateError: users: two models have this name, User in /app/a.ts and Person in /app/b.ts; give one of them another name
    NameCollisionError: UserRepository.findById: two things would have this name in the generated code: the primary key, and index "byId"; rename one of them
    NameUnusableError: "2fa": no identifier can be made from this name (the name of a model); its letters and digits must begin with a letter
    RelationInvalidError: posts: relations.author (Post in /app/a.ts): there is no model
    TypeInexpressibleError: users: no type can be generated for its schema: it is undefined; change this part of the schema
    TypeInexpressibleError: users: no type can be generated for field address.lines of its schema: it is undefined; change this part of the schema
    OutputOccupiedError: /app/db/users.ts: the file was not generated but has the name of a generated file; move it away, or set \`output\` to another folder
    OutputFailedError: /app/db: the path cannot be read or written; \`output\` must be a folder that you may write to
    LockFileError: /app/keywright.lock.json: it cannot be read; update Keywright if a later version wrote the file, otherwise move it away and run \`npx keywright generate\`, which writes it again
    ProjectConfiguredError: /app/keywright.config.ts: the project already has a configuration; run \`npx keywright generate\`, or move the file away to start again
    ProjectFileError: /app/package.json: the file cannot be read, written or watched, or its contents are not valid; correct it as the cause says, and run the command again
    DatabaseUnsetError: /app/keywright.config.ts: the setting \`database\` is missing, so no database can be opened; add \`database: () => openKv("data/app")\`, with \`openKv\` from @keywright/core
    CopyUnsetError: /app/keywright.config.ts: the setting \`copy.from\` is missing; add \`copy: { from: () => openKv("data/old") }\`, or name the databases as in \`npx keywright copy data/old data/new\`
    DenoKvMissingError: kv.sqlite: a file or URL is opened with Deno KV, which is not available here; install it with \`npm install @deno/kv\`, or run the command in Deno. A Keywright database is a folder
    DenoKvMissingError: kv.sqlite: a file or URL is opened with Deno KV, which is not available here; run Deno with --unstable-kv. A Keywright database is a folder
    EngineMissingError: This needs the package @keywright/etcd, which the project does not have; install it with \`npm install @keywright/etcd\`
    DatabaseOpenError: /app/keywright.config.ts: the function that opens the database failed at /app/keywright.config.ts:7; correct it as the cause says. It must return what \`openKv\` returns
    AdoptUnsetError: /app/keywright.config.ts: the setting \`adopt\` is missing; add \`adopt: { from: () => openKv("data/old"), models: { users: kvdexLayout(…) } }\` (see \`npx keywright adopt --help\`)
    ProjectCodeError: /app/models/user.ts:4: the project's own code threw an error; correct this line, or what it uses, as the cause says
    CommandUnfinishedError: the process ended before the command did; look for \`process.exit\`, or an \`await\` that never ends, in the configuration and the modules of models. What was done until then stays
    UsageError: unknown option '--al'; \`npx keywright help <command>\` prints the options and examples of a command
    InternalError: this is a fault in keywright itself: cause; report it, with the command line and the version
    PermissionMissingError: Requires read access, run again with the --allow-read flag; run Deno with the option that the message names
    TopicUnknownError: there is no topic qeries; did you mean queries? \`npx keywright docs\` lists the topics
    TopicUnknownError: there is no topic nothing; \`npx keywright docs\` lists the topics
    CallTimeoutError: find: the project and its database have not opened within 50 seconds; check that the server of the database runs, and that no module of the project waits while it is loaded, then call again. \`npx keywright migrate status\` opens the database in the same way
    CallTimeoutError: verify: the call has not ended within 1 second, and was stopped; read less: narrow where, lower take or maxReads, or name fewer models. \`keywright mcp --timeout <seconds>\` gives calls more time, and \`npx keywright verify\` has no limit
    CallTimeoutError: create: the call has not ended within 50 seconds, and the row may have been written; read the row before you repeat the call
    KeyNotationError: ["a": this is not a key, at character 5: expected a comma or the end of the array; write a JSON array, in quotes for the shell, such as '["users", 1n, b64:AQID]'
    EntryMissingError: ["users", 1n]: the database has no entry under this key; look for it with \`npx keywright inspect ls\`. The number 1, the bigint 1n and the string "1" are different key parts
    FileFailedError: /app/backup.jsonl: it cannot be read or written; correct the path or the permissions as the cause says
    ImportLineError: line 3: this is not a line of an export: the key is not an array of parts; import a file that \`keywright inspect export\` wrote, or correct the line and import it again. Entries that are already in the database are left as they are
    ImportIncompleteError: the export is not complete (the last line is missing, entries read: 1); get the whole file and import it. Entries that are already in the database are left as they are
    ImportIncompleteError: the export is not complete (entries read: 1, expected: 2); get the whole file and import it. Entries that are already in the database are left as they are
    ImportRefusedError: line 3: the database does not accept the entry ["users", 1n]; correct or remove the line as the cause says, and import the file again. Entries that are already in the database are left as they are
    SeedPackagesError: generated values come from @faker-js/faker and randexp, which the project does not have; install with \`npm install --save-dev @faker-js/faker randexp\`
    SeedNotEmptyError: the database is not empty: there are rows of users, posts; add rows to them with --append, or use another database
    SeedFieldError: post_tags.address.zip: no value can be generated: none of 200 generated values passed; set it in \`seed.models.postTags.address\` of the configuration, to a value or a function that returns one
    SeedFieldError: post_tags: no value can be generated: none of 200 generated rows passed; set the fields that it compares in \`seed.models.postTags\` of the configuration, to a value or a function that returns one
    SeedReferenceError: posts.authorId: there is no row of users to refer to; also generate rows of it, as in \`--rows users=10\`. If the two models refer to each other, make one of the references optional
    SeedUniqueError: users: no value is left for the unique index byCode after 10 of 20 rows; ask for fewer rows, or set its fields in \`seed\` of the configuration
    SeedUniqueError: users: no value is left for its primary key after 10 of 20 rows; ask for fewer rows, or set its fields in \`seed\` of the configuration"
  `);
});

it("each code has a message here", () => {
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(codegenErrorCodes));
});
