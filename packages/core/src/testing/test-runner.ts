/** What the contract suites need of a test runner; vitest, jest, mocha, node:test and bun:test have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it: {
    (name: string, body: () => Promise<void>): unknown;
    /** Reports a test that is not run. */
    skip(name: string, body: () => Promise<void>): unknown;
  };
}
