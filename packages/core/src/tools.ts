// Small tools that programs need beside their models: locks, rate limits, sessions and blobs.
export {
  BlobAbandonedError,
  BlobDamagedError,
  LockLostError,
  LockTakenError,
} from "./errors/tool-errors.js";
export type { BlobRange } from "./tools/blobs/blob-reader.js";
export type { BlobSetOptions } from "./tools/blobs/blob-writer.js";
export { type BlobInfo, type Blobs, blobs } from "./tools/blobs/blobs.js";
export type { BlobSource } from "./tools/blobs/chunks.js";
export { type ToolboxBlob, toolboxBlobs } from "./tools/blobs/toolbox-blobs.js";
export { type HeldLock, type LockOptions, withLock } from "./tools/lock.js";
export {
  type RateLimit,
  type RateLimitOptions,
  type RateLimitResult,
  rateLimit,
  type SlidingWindowOptions,
  type TokenBucketOptions,
} from "./tools/rate-limit.js";
export { type Session, type SessionOptions, type Sessions, sessions } from "./tools/sessions.js";
