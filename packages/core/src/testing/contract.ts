import assert from "node:assert/strict";
import { soon } from "./soon.js";

export interface ContractStore {
  /** Closes the store if the test has not closed it, and removes its data. */
  dispose(): Promise<void>;
}

/** Describes an implementation to a contract. */
export interface ContractAdapter<Store extends ContractStore> {
  /** The prefix of the name of each test group. */
  readonly name: string;
  /** Creates an empty store for one test. */
  create(): Promise<Store>;
  /**
   * The capabilities beyond the minimum. A test that needs another capability is skipped, and its
   * name says so.
   */
  readonly capabilities?: readonly string[];
  /**
   * The tests that are expected to fail, as `group: name`, each with the reason. They run and must
   * fail. A test that passes is an error, and so is a name that no test has.
   */
  readonly differences?: Readonly<Record<string, string>>;
}

/** Milliseconds after which a test that is expected to fail counts as failed. */
const patience = 1500;

/** Adds a test to a group. The test is skipped if the adapter lacks a capability of `needs`. */
export type AddTest<Store> = (
  name: string,
  body: (store: Store) => Promise<void>,
  needs?: string | readonly string[],
) => void;

export interface TestGroup<Store> {
  readonly name: string;
  /** Adds the tests of the group. Called once for each adapter. */
  readonly define: (test: AddTest<Store>) => void;
}

export function runContract<Store extends ContractStore>(
  { describe, it }: TestRunner,
  adapter: ContractAdapter<Store>,
  groups: readonly TestGroup<Store>[],
): void {
  const differences = new Map(Object.entries(adapter.differences ?? {}));
  const known = new Set<string>();

  for (const group of groups) {
    describe(`${adapter.name}: ${group.name}`, () => {
      group.define((name, body, needs) => {
        const id = `${group.name}: ${name}`;
        assert.ok(!known.has(id), `two tests have the name "${id}"`);
        const run = () => withStore(adapter, body);
        const missing = [needs ?? []].flat().find((need) => !adapter.capabilities?.includes(need));
        if (missing !== undefined) {
          it.skip(`${name} (skipped: no capability "${missing}")`, run);
          return;
        }
        known.add(id);
        const reason = differences.get(id);
        if (reason === undefined) it(name, run);
        else it(`${name} (differs: ${reason})`, () => withStore(adapter, failing(body, reason)));
      });
    });
  }

  if (differences.size > 0) {
    describe(`${adapter.name}: differences`, () => {
      it("are tests of the contract", async () => {
        assert.deepEqual(
          [...differences.keys()].filter((id) => !known.has(id)),
          [],
          "no test has these names",
        );
      });
    });
  }
}

async function withStore<Store extends ContractStore>(
  adapter: ContractAdapter<Store>,
  body: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await adapter.create();
  try {
    await body(store);
  } finally {
    await store.dispose();
  }
}

/** Inverts a test: fails if `body` passes. A body that does not end in time counts as failed. */
function failing<Store>(
  body: (store: Store) => Promise<void>,
  reason: string,
): (store: Store) => Promise<void> {
  return async (store) => {
    const failed = await soon("the end of the test", body(store), patience).then(
      () => false,
      () => true,
    );
    assert.ok(failed, `the test passes, so remove this difference: ${reason}`);
  };
}

/** The interface of vitest, jest, mocha, node:test and bun:test that the suites use. */
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
