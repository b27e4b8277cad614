// The largest sizes that bundles may have, minified and compressed with gzip.
// `npm run size -w @keywright/builds` measures them. docs/runtimes.md has the figures.
const core = "../packages/core/dist/index.js";
const orm = "../packages/orm/dist/index.js";
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
  // Native code cannot be part of a bundle, and Zod is a peer dependency.
  ignore: ["zod", "classic-level"],
  modifyEsbuildConfig: (config) => ({ ...config, platform: "node", format: "esm" }),
});

export default [
  bundle("only reads and writes", readsAndWrites, "275 kB"),
  bundle("migrates too", { [core]: "{ openKv }", [orm]: migrates }, "311 kB"),
  bundle("all of @keywright/orm/migrate", { ...readsAndWrites, [changes]: "*" }, "315 kB"),
];
