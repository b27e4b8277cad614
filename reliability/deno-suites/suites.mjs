/** The assertions that take the place of those of Deno's standard library. */
const assertions = new URL("assertions.mjs", import.meta.url).href;

/**
 * The test suites of Deno and denokv for a database, with their versions. Their files are not
 * stored here. The first file of each has the tests. `imports` is what these import from elsewhere,
 * with what takes its place.
 */
export const suites = {
  deno: {
    title: "Deno's tests of Deno.Kv",
    repository: "denoland/deno",
    version: "v2.9.5",
    files: ["tests/unit/kv_test.ts"],
    imports: { "./deno/tests/unit/test_util.ts": assertions, "@std/testing/types": assertions },
  },
  denokv: {
    title: "denokv's end-to-end test",
    repository: "denoland/denokv",
    version: "0.12.0",
    files: ["npm/src/e2e.ts", "npm/src/check.ts", "npm/src/kv_types.ts", "npm/src/sleep.ts"],
    imports: Object.fromEntries(
      [
        "",
        "_equals",
        "_exists",
        "_false",
        "_match",
        "_not_equals",
        "_rejects",
        "_throws",
        "ion_error",
      ]
        .map((end) => `https://deno.land/std@0.208.0/assert/assert${end}.ts`)
        .map((url) => [url, assertions]),
    ),
  },
};

/** Where the databases of a suite are. */
export const places = {
  compat: 'Keywright with `compat: "deno"`',
  connect: "Deno's client and a server of Keywright",
};
