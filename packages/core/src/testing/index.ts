export type { ContractAdapter, ContractStore, TestRunner } from "./contract.js";
export type { EngineAdapter, EngineCapability, EngineStorage } from "./engine/engine-adapter.js";
export { engineContract } from "./engine/engine-contract.js";
export type { KvAdapter, KvCapability, KvStore, KvU64Class } from "./kv/kv-adapter.js";
export { kvContract } from "./kv/kv-contract.js";
