import type { Engine } from "../../engine/engine.js";
import type { ContractAdapter, ContractStore, TestGroup } from "../contract.js";

/** A store for one test, with an engine open on it. */
export interface EngineStore extends ContractStore {
  /** The engine that is open when the test begins, on an empty store. */
  readonly engine: Engine;
  /** Closes the engine and opens another one on what it has stored. */
  reopen(): Promise<Engine>;
}

/** How the contract is run on an engine. */
export type EngineAdapter = ContractAdapter<EngineStore>;

export type EngineTestGroup = TestGroup<EngineStore>;
