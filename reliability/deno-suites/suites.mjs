/** The assertions that take the place of those of Deno's standard library. */
const assertions = new URL("assertions.mjs", import.meta.url).href;

/**
 * The test suites of Deno and denokv for a database, with their versions. Their files are not
 * stored here, only their SHA-256. The first file of each has the tests. `imports` is what these
 * import from elsewhere, with what takes its place.
 */
export const suites = {
  deno: {
    title: "Deno's tests of Deno.Kv",
    repository: "denoland/deno",
    version: "v2.9.5",
    files: {
      "tests/unit/kv_test.ts": "6b651c0d555801f6ce3e9f30c723f45038fadf9a448b83719a6d2699ef05c698",
    },
    imports: { "./deno/tests/unit/test_util.ts": assertions, "@std/testing/types": assertions },
  },
  denokv: {
    title: "denokv's end-to-end test",
    repository: "denoland/denokv",
    version: "0.12.0",
    files: {
      "npm/src/e2e.ts": "cec9861a9203f2721218c6794d17f4dd2ff2b8ad1b48e71fb872e045115b01a0",
      "npm/src/check.ts": "a5e29763719e9c994401ad6a0cf2dd5cfe118e323516ad9a3f91b04f573c79d6",
      "npm/src/kv_types.ts": "d883cc18013e46e61ec416a2a1c0a9ac388dae5aa7a18a8cf02a9b4e8129925c",
      "npm/src/sleep.ts": "e802feb80b519730743d759772dfd80e549e558174eae8a348389ac97075bc0a",
    },
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
