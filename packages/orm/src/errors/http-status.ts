import { type CoreErrorCode, isKeywrightError } from "@keywright/core";
import type { OrmErrorCode } from "./codes.js";

/** A status of {@link httpStatusOf}. */
export type HttpStatus = 400 | 403 | 404 | 409 | 500 | 503;

/**
 * The status of each code, for errors that are not `retryable`. The type requires a line for each
 * code. A mistake of the program is 500, although a client may have caused it: the client cannot
 * correct it.
 */
export const statusByCode: Readonly<Record<CoreErrorCode | OrmErrorCode, HttpStatus>> = {
  KW_RUNTIME_UNSUPPORTED: 500,
  KW_BROWSER_UNSUPPORTED: 500,
  KW_KEY_INVALID: 400,
  KW_KEY_MALFORMED: 400,
  KW_VALUE_UNSUPPORTED: 400,
  KW_VALUE_MALFORMED: 400,
  KW_VALUE_UNREADABLE: 500,
  KW_VALUE_NOT_U64: 500,
  KW_OPTION_INVALID: 500,
  KW_LIMIT_EXCEEDED: 400,
  KW_COMMIT_MISSING: 500,
  KW_VERSIONSTAMP_INVALID: 400,
  KW_RANGE_CHECKS_UNSUPPORTED: 500,
  KW_SELECTOR_INVALID: 400,
  KW_DATABASE_PATH_INVALID: 500,
  KW_DATABASE_NOT_FOUND: 500,
  KW_DATABASE_LOCKED: 503,
  KW_DATABASE_FORMAT: 500,
  KW_DATABASE_MODE: 500,
  KW_DATABASE_READ_ONLY: 500,
  KW_DATABASE_CLOSED: 503,
  KW_CORRUPTION: 500,
  KW_ENGINE_FAILED: 500,
  KW_ENGINE_UNAVAILABLE: 503,
  // Not 503, because clients repeat a request after 503, and the commit may have been applied.
  KW_COMMIT_AMBIGUOUS: 500,
  KW_READ_VIEW_ENDED: 503,
  KW_DATABASE_CHANGED: 503,
  KW_LOG_OFF: 500,
  KW_LOG_TRUNCATED: 404,
  KW_LOG_UNSUPPORTED: 500,
  KW_CONSUMER_LOST: 500,
  KW_CONSUMER_TIMEOUT: 503,
  KW_PAST_LIMIT: 400,
  KW_PAST_UNKNOWN: 404,
  KW_COPY_FAILED: 500,
  KW_COPY_UNREADABLE: 500,
  KW_RESTORE_UNFINISHED: 503,
  KW_DATABASE_MOVED: 500,
  KW_DATABASE_MOVING: 503,
  KW_MOVE_FAILED: 500,
  KW_MOVE_UNFINISHED: 503,
  KW_BACKUP_DAMAGED: 500,
  KW_BACKUP_FORMAT: 500,
  KW_BACKUP_KEY: 500,
  KW_BACKUP_FULL_NEEDED: 500,
  KW_BACKUP_MOMENT: 500,
  KW_BACKUP_DATABASE: 500,
  KW_LOCK_TAKEN: 503,
  KW_LOCK_LOST: 500,
  KW_BLOB_ABANDONED: 503,
  KW_BLOB_DAMAGED: 500,

  KW_MODEL_INVALID: 500,
  KW_ROW_INVALID: 400,
  KW_STORED_ROW_INVALID: 500,
  KW_ROW_NOT_FOUND: 404,
  KW_UNIQUE_CONSTRAINT: 409,
  KW_VERSION_CONFLICT: 409,
  KW_PRIMARY_KEY_CHANGED: 400,
  KW_PRIMARY_KEY_DIFFERS: 500,
  KW_REFERENCE_MISSING: 409,
  KW_ROW_REFERENCED: 409,
  KW_REFERENCE_REQUIRED: 409,
  KW_INDEX_KEY_INVALID: 400,
  KW_AMOUNT_INVALID: 400,
  KW_COMPUTED_FAILED: 500,
  KW_INDEX_UNKNOWN: 500,
  KW_INDEX_NOT_READY: 503,
  KW_INDEX_CHANGED: 500,
  KW_QUERY_UNINDEXED: 500,
  KW_QUERY_INVALID: 400,
  KW_ARGUMENT_INVALID: 400,
  KW_READ_LIMIT: 400,
  KW_CURSOR_INVALID: 400,
  KW_SCOPE: 403,
  KW_LIVE_UNAVAILABLE: 500,
  KW_TRANSACTION_CONFLICT: 503,
  KW_TRANSACTION_ENDED: 500,
  KW_TRANSACTION_NOT_AWAITED: 500,
  KW_TRANSACTION_BYPASSED: 500,
  KW_ISOLATION_UNAVAILABLE: 500,
  KW_SNAPSHOT_READ_ONLY: 500,
  KW_SNAPSHOT_ENDED: 500,
  KW_LOG_UNAVAILABLE: 500,
  KW_PAST_UNREADABLE: 404,
  KW_ROW_VERSION_NOT_FOUND: 404,
  KW_STALE_SCHEMA: 500,
  KW_MODEL_DROPPED: 500,
  KW_SYSTEM_ENTRY_INVALID: 500,
  KW_SCHEMA_NOT_MIGRATED: 500,
  KW_ROW_UPGRADE: 500,
  KW_MIGRATION_MISSING: 500,
  KW_LEASE_LOST: 503,
  KW_JOB_INVALID: 500,
  KW_JOB_PAYLOAD_INVALID: 400,
  KW_JOB_LOST: 500,
  KW_JOB_INTERRUPTED: 500,
  KW_JOB_TIMEOUT: 500,
  KW_JOB_CANCELLED: 500,
  KW_WORKER_STOPPED: 500,
};

/**
 * Returns the status with which an HTTP handler answers after an error:
 *
 * - 503 if the error is `retryable` or the database cannot be used at the moment. Add the header
 *   `Retry-After: 1`, so that clients wait before they repeat the request.
 * - 400 if the input is not valid, 403 if it would leave a scope, 404 if what it names does not
 *   exist, and 409 if it contradicts other rows or another version of the row.
 * - 500 for all other errors, also those that are not Keywright's.
 *
 * The message of a Keywright error contains no stored data. It names models, indexes and fields.
 *
 * @example
 * ```ts
 * catch (error) {
 *   return new Response(null, { status: httpStatusOf(error) });
 * }
 * ```
 */
export function httpStatusOf(error: unknown): HttpStatus {
  if (!isKeywrightError(error)) return 500;
  if (error.retryable) return 503;
  return Object.hasOwn(statusByCode, error.code)
    ? statusByCode[error.code as keyof typeof statusByCode]
    : 500;
}
