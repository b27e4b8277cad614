import type { Engine } from "../../engine/engine.js";
import type { ContractAdapter, ContractStore, TestGroup } from "../contract.js";

/** A store for one test, with an open engine. */
export interface EngineStore extends ContractStore {
  /** The engine that is open when the test begins. It is empty. */
  readonly engine: Engine;
  /** Closes the engine and opens a new one on the same data. */
  reopen(): Promise<Engine>;
}

export type EngineAdapter = ContractAdapter<EngineStore>;

export type EngineTestGroup = TestGroup<EngineStore>;
