export type {
  AtomicWrite,
  Engine,
  EngineLimits,
  MaybePromise,
  RangeRead,
  StoredCheck,
  StoredEntry,
  StoredMutation,
  StoredSet,
  WriteOutcome,
} from "../engine/engine.js";
export type { KeyRange } from "../keys/key-range.js";
export type { ContractAdapter, ContractStore, TestRunner } from "./contract.js";
export type { EngineAdapter, EngineStore } from "./engine/engine-adapter.js";
export { engineContract } from "./engine/engine-contract.js";
export type { KvAdapter, KvCapability, KvStore, KvU64Class } from "./kv/kv-adapter.js";
export { kvContract } from "./kv/kv-contract.js";
