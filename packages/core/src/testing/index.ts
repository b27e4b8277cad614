export type { ContractAdapter, ContractStore } from "./contract.js";
export type { EngineAdapter, EngineStore } from "./engine/engine-adapter.js";
export { engineContract } from "./engine/engine-contract.js";
export type { KvAdapter, KvCapability, KvStore, U64Class } from "./kv/kv-adapter.js";
export { kvContract } from "./kv/kv-contract.js";
export type { TestRunner } from "./test-runner.js";
