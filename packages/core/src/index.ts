export type { EngineLimits } from "./engine/engine.js";
export type { LevelDatabase } from "./engine/level/level-engine.js";
export { type CoreErrorCode, coreErrorMessages } from "./errors/codes.js";
export {
  CorruptionError,
  DatabaseClosedError,
  DatabaseFormatError,
  DatabaseLockedError,
  DatabasePathError,
  EngineFailedError,
  InvalidKeyError,
  InvalidSelectorError,
  InvalidVersionstampError,
  MalformedKeyError,
  MalformedValueError,
  UnsupportedValueError,
} from "./errors/core-errors.js";
export {
  isKeywrightError,
  KeywrightError,
  type KeywrightErrorOptions,
  KeywrightTypeError,
} from "./errors/keywright-error.js";
export { compareKeys } from "./keys/compare-keys.js";
export { decodeKey } from "./keys/decode-key.js";
export { encodeKey } from "./keys/encode-key.js";
export type { KvKey, KvKeyPart } from "./keys/key.js";
export type { KvListSelector } from "./keys/key-range.js";
export type { EmbeddedKv } from "./kv/embedded-kv.js";
export type {
  AtomicCheck,
  AtomicOperation,
  Kv,
  KvCommitError,
  KvCommitResult,
  KvConsistencyLevel,
  KvEntry,
  KvEntryMaybe,
  KvListIterator,
  KvListOptions,
} from "./kv/kv.js";
export { type OpenKvOptions, openKv } from "./kv/open-kv.js";
export { decodeValue } from "./values/decode-value.js";
export { encodeValue } from "./values/encode-value.js";
export { KvU64 } from "./values/kv-u64.js";
