// What the package exports in every runtime.
export type {
  AtomicWrite,
  DatabaseOwner,
  DeleteExpired,
  Engine,
  EngineLimits,
  EntryMemory,
  EntryVisitor,
  Footprint,
  KeyList,
  KeyVisitor,
  LogMark,
  MaybePromise,
  OpenViewOptions,
  QueueListener,
  RangeCheck,
  RangeListener,
  RangeRead,
  RangesRead,
  RangesVisitor,
  ReadView,
  StoredCheck,
  StoredEntry,
  StoredMutation,
  StoredSet,
  Turn,
  Turns,
  VisitedEntry,
  WriteOutcome,
} from "./engine/engine.js";
export type { FileDamage, FileReport } from "./engine/files/file-report.js";
export type { OwnedFiles } from "./engine/files/owned-files.js";
export type { FileCheckOptions } from "./engine/level/files/file-checker.js";
export type { LevelDatabase } from "./engine/level/level-engine.js";
export { type Progress, ProgressMeter } from "./engine/progress.js";
export { TurnLine } from "./engine/turns.js";
export { BrowserUnsupportedError } from "./errors/browser-error.js";
export { type CoreErrorCode, coreErrorCodes } from "./errors/codes.js";
export {
  CopyFailedError,
  CopyUnreadableError,
  DatabaseChangedError,
  DatabaseMovedError,
  DatabaseMovingError,
  MoveFailedError,
  MoveUnfinishedError,
  RestoreUnfinishedError,
} from "./errors/copy-errors.js";
export {
  AmbiguousCommitError,
  CommitMissingError,
  CorruptionError,
  type DamagedFile,
  DatabaseClosedError,
  DatabaseFormatError,
  DatabaseLockedError,
  DatabaseModeError,
  DatabaseNotFoundError,
  DatabasePathError,
  EngineFailedError,
  EngineUnavailableError,
  InvalidKeyError,
  InvalidOptionError,
  InvalidSelectorError,
  InvalidVersionstampError,
  LimitExceededError,
  MalformedKeyError,
  MalformedValueError,
  NotU64Error,
  RangeChecksUnsupportedError,
  ReadOnlyError,
  ReadViewEndedError,
  UnreadableValueError,
  UnsupportedRuntimeError,
  UnsupportedValueError,
} from "./errors/core-errors.js";
export {
  isKeywrightError,
  KeywrightError,
  type KeywrightErrorOptions,
  KeywrightTypeError,
} from "./errors/keywright-error.js";
export {
  ConsumerLostError,
  ConsumerTimeoutError,
  LogOffError,
  LogTruncatedError,
  LogUnsupportedError,
  PastLimitError,
  PastUnknownError,
} from "./errors/log-errors.js";
export { compareKeys } from "./keys/compare-keys.js";
export { decodeKey } from "./keys/decode-key.js";
export { encodeKey } from "./keys/encode-key.js";
export type { KvKey, KvKeyPart } from "./keys/key.js";
export { denoOrder, type KeyOrder, specificationOrder } from "./keys/key-order.js";
export { KeyPrefix } from "./keys/key-prefix.js";
export type { KeyRange, KvListSelector } from "./keys/key-range.js";
export {
  type AtomicCheck,
  AtomicOperation,
  type KvCommitError,
  type KvCommitResult,
  type KvEnqueueOptions,
  type KvMutation,
  type KvSetKey,
  type KvSetOptions,
} from "./kv/atomic-operation.js";
export type {
  KvConsumeOptions,
  KvConsumerFailure,
  KvConsumerHandler,
  KvDelivery,
} from "./kv/consume/consume-types.js";
export type { KvConsumer } from "./kv/consume/list-consumers.js";
export type { CopyOptions, CopyProgress, CopyResult } from "./kv/copy/copy-options.js";
export { listSnapshot } from "./kv/copy/list-snapshot.js";
export type { EmbeddedKv } from "./kv/embedded-kv.js";
export type {
  Kv,
  KvConsistencyLevel,
  KvEntry,
  KvEntryMaybe,
  KvLike,
  KvListIterator,
  KvListOptions,
  KvView,
  KvWatchOptions,
  QueueHandler,
  VerifyFilesOptions,
} from "./kv/kv.js";
export type { KvListedEntry, KvPageOptions, KvPages } from "./kv/kv-pages.js";
export type { KvLimits } from "./kv/limits.js";
export type { LogLifetime, LogOptions } from "./kv/log/log-options.js";
export type { OpenPastOptions } from "./kv/log/open-past.js";
export type {
  KvChange,
  KvChangesOptions,
  KvLoggedCommit,
  KvLoggedValue,
} from "./kv/log/read-changes.js";
export type { KvLastChange, KvLastChangeOptions } from "./kv/log/read-commit.js";
export type { MoveOptions, MoveProgress, MoveResult } from "./kv/move/move-options.js";
export type { KvPlace, OpenKvOptions } from "./kv/open/open-handle.js";
export type { AttachOptions } from "./kv/open/open-options.js";
export type { RepairOptions, RepairReport } from "./kv/repair/repair-database.js";
export type { RescueOptions, RescueReport } from "./kv/repair/rescue-database.js";
export { monotonicUlid, ulid } from "./kv/ulid.js";
export type { KvRangeChange } from "./kv/watch/watch-range-stream.js";
export { decodeValue } from "./values/decode-value.js";
export { encodeValue } from "./values/encode-value.js";
export { KvU64 } from "./values/kv-u64.js";
