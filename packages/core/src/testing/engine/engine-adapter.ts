import type { Engine } from "../../engine/engine.js";
import type { ContractAdapter, ContractStore, TestGroup } from "../contract.js";

/** The storage of one test. It is empty when the test begins. */
export interface EngineStorage {
  /**
   * Opens an engine on the storage. It is called again after the engine was closed, and with the
   * capability "shared" also while other engines are open.
   */
  open(): Promise<Engine>;
  /** Removes the storage, after all its engines were closed. */
  remove?(): Promise<void>;
}

/**
 * - "shared": several engines can be open on one storage.
 * - "views": the engine has `openView`.
 * - "rangeChecks": the engine has `openView` and `checksRanges`.
 * - "expiryOrder": entries expire in one order with commits. A read that does not see a commit has
 *   no later time than it, also while the commit is applied.
 * - "log": no other process owns the database, so this one can begin a log.
 * - "sharedLog": the same, and several engines can be open on one storage.
 */
export type EngineCapability =
  | "shared"
  | "views"
  | "rangeChecks"
  | "expiryOrder"
  | "log"
  | "sharedLog";

export interface EngineAdapter extends Omit<ContractAdapter<ContractStore>, "create"> {
  /** Creates an empty storage for one test. */
  create(): Promise<EngineStorage>;
  readonly capabilities?: readonly EngineCapability[];
}

export interface EngineTestStore extends ContractStore {
  /** The engine that is open when the test begins. */
  readonly engine: Engine;
  /** Closes `engine` and opens a new one on the same data. */
  reopen(): Promise<Engine>;
  /** Opens one more engine on the same data. */
  openAnother(): Promise<Engine>;
}

export type EngineTestGroup = TestGroup<EngineTestStore>;

/** Returns an adapter that opens an engine for each test and closes all engines after it. */
export function testAdapter(adapter: EngineAdapter): ContractAdapter<EngineTestStore> {
  return {
    ...adapter,
    create: async () => {
      const storage = await adapter.create();
      let engine = await storage.open();
      const others: Engine[] = [];
      return {
        engine,
        reopen: async () => {
          await engine.close();
          engine = await storage.open();
          return engine;
        },
        openAnother: async () => {
          const another = await storage.open();
          others.push(another);
          return another;
        },
        dispose: async () => {
          for (const each of [engine, ...others]) await each.close();
          await storage.remove?.();
        },
      };
    },
  };
}
