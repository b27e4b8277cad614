import { fileURLToPath } from "node:url";
import { shared } from "./vitest.shared.mjs";

/** The tests of the ORM. Their helpers open databases too. */
const tests = fileURLToPath(new URL("packages/orm/test/", import.meta.url));
/** The built modules of the ORM. Each process would transform all of its sources first. */
const built = fileURLToPath(new URL("packages/orm/dist/", import.meta.url));

/** Tests that a server would not change. */
const leftOut = {
  "types and sources only": [
    "completions",
    "function-source",
    "nested-types",
    "type-budget",
    "types",
  ],
  "pure functions of models, plans and keys": [
    ...["alternatives", "compare-rows", "define-migration", "definition", "descending"],
    ...["function-fields", "manifest", "model", "plan-migration", "plan-query", "sorted-ids"],
    ...["stored-rows"],
  ],
  "their databases are always in memory": ["test-clock", "test-database"],
  "their databases are in Deno's mode, in a folder, or Deno KV": [
    ...["build-beside-writers", "deno-kv", "deno-order", "full-length-keys", "large-rows"],
    ...["transform-crash", "unstorable-keys"],
  ],
};

/**
 * Returns the configuration that runs the tests of the ORM with each database that they open in
 * memory on a server instead. Their text is the same: only `openKv` of their imports is replaced,
 * and the ORM is the built one.
 *
 * @param {object} server
 * @param {boolean} server.isInstalled without it, no test runs.
 * @param {string} server.openKv the path of a module with the exports of `@keywright/core` and this
 * `openKv`.
 * @param {string} server.globalSetup the path of the module that starts the server.
 * @param {Readonly<Record<string, readonly string[]>>} server.assumptions the tests that assume
 * something that the server does not do, as `file`, or as `file: name`, by the reason why they are
 * skipped.
 * @returns {import("vitest/config").ViteUserConfig}
 */
export function ormOnServer({ isInstalled, openKv, globalSetup, assumptions }) {
  const reasons = Object.entries(assumptions).flatMap(([reason, names]) =>
    names.map((name) => [name, reason]),
  );
  return {
    root: fileURLToPath(new URL("packages/orm", import.meta.url)),
    plugins: [
      {
        name: "open-on-server",
        enforce: "pre",
        resolveId(source, importer) {
          if (!importer?.startsWith(tests)) return undefined;
          if (source === "@keywright/core") return openKv;
          const [, name] = /^(?:\.\.\/)+src\/(.+)$/.exec(source) ?? [];
          return name === undefined ? undefined : `${built}${name}`;
        },
      },
    ],
    test: {
      ...shared,
      // Some tests make thousands of calls, each of which is a message to the server here.
      testTimeout: 5 * shared.testTimeout,
      isolate: false,
      // Most of the time of a test is spent waiting for the server.
      maxWorkers: 3,
      passWithNoTests: true,
      include: isInstalled ? ["test/**/*.test.ts"] : [],
      exclude: Object.values(leftOut).flatMap((names) =>
        names.map((name) => `test/**/${name}.test.ts`),
      ),
      globalSetup,
      setupFiles: fileURLToPath(new URL("vitest.skip-assumptions.mjs", import.meta.url)),
      provide: { assumptions: Object.fromEntries(reasons) },
    },
  };
}
