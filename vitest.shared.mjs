/**
 * What the configurations of all tests have in common.
 *
 * The limits of one test, one hook and one `expect.poll`, in milliseconds, end what hangs. They
 * measure nothing: tests start processes and compilers, which take many times as long on a machine
 * that does something else besides.
 *
 * @type {import("vitest/config").TestUserConfig}
 */
export const shared = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 120_000 } },
  // Node loads the built packages itself. Vitest would transform each of their files first, which
  // took half of the time of a small suite.
  server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
};
