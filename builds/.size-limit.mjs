// The largest sizes that bundles may have, minified and compressed with gzip.
// `npm run size -w @keywright/builds` measures them. docs/runtimes.md has the figures.
const core = "../packages/core/dist/index.js";
const browserCore = "../packages/core/dist/browser.js";
const orm = "../packages/orm/dist/index.js";
const sqlite = "../packages/sqlite/dist/index.js";
const changes = "../packages/orm/dist/migrate.js";

/** What a program imports that only reads and writes. */
export const readsAndWrites = { [core]: "{ openKv }", [orm]: "{ createDatabase, defineModel }" };
const migrates = "{ createDatabase, defineModel, migrate, migrationStatus }";

const bundle = (name, imports, limit) => ({
  name,
  path: [orm],
  import: imports,
  limit,
  gzip: true,
  // Native code cannot be part of a bundle, and Zod is a peer dependency. The stemmers are imported
  // dynamically, so a bundler that splits makes each a file, which is loaded if an index needs it.
  ignore: ["zod", "classic-level", "@orama/stemmers", "stemmer"],
  modifyEsbuildConfig: (config) => ({ ...config, platform: "node", format: "esm" }),
});

/** A bundle for browsers has no native code to leave out, and needs nothing of Node.js. */
const browserBundle = (name, imports, limit) => ({
  ...bundle(name, imports, limit),
  path: [browserCore],
  modifyEsbuildConfig: (config) => ({
    ...config,
    platform: "browser",
    format: "esm",
    conditions: ["browser"],
  }),
});

export default [
  bundle("only reads and writes", readsAndWrites, "325 kB"),
  bundle("migrates too", { [core]: "{ openKv }", [orm]: migrates }, "365 kB"),
  bundle("all of @keywright/orm/migrate", { ...readsAndWrites, [changes]: "*" }, "368 kB"),
  browserBundle("core in a browser", { [browserCore]: "{ openKv }" }, "60 kB"),
  browserBundle(
    "in a browser",
    { [browserCore]: "{ openKv }", [orm]: "{ createDatabase, defineModel }" },
    "290 kB",
  ),
  bundle("on SQLite", { ...readsAndWrites, [sqlite]: "{ sqliteEngine }" }, "334 kB"),
];
