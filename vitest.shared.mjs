/**
 * The limits of one test and one hook, in milliseconds. They end what hangs. They measure nothing:
 * tests start processes and compilers, which take many times as long on a machine that does
 * something else besides.
 *
 * @type {import("vitest/config").TestUserConfig}
 */
export const limits = { testTimeout: 180_000, hookTimeout: 180_000 };
