/** What the contract suites need of a test runner; vitest, jest, mocha, node:test and bun:test have it. */
export interface TestRunner {
  /** Makes a group of tests, which `body` adds while it runs. */
  describe(name: string, body: () => void): unknown;
  /** Adds a test: it passes where the promise of `body` resolves. */
  it: {
    (name: string, body: () => Promise<void>): unknown;
    /** Reports a test that is not run. */
    skip(name: string, body: () => Promise<void>): unknown;
  };
}
