/**
 * The part of a test runner that the contract suites need. vitest, jest, mocha, node:test and
 * bun:test have it.
 */
export interface TestRunner {
  /** Creates a group of tests. `body` adds them while it runs. */
  describe(name: string, body: () => void): unknown;
  /** Adds a test. It passes if the promise of `body` resolves. */
  it: {
    (name: string, body: () => Promise<void>): unknown;
    /** Reports a test without running it. */
    skip(name: string, body: () => Promise<void>): unknown;
  };
}
