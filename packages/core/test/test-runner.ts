/** What the contract suites need of a test runner; vitest, jest, mocha and node:test have it. */
export interface TestRunner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
}
