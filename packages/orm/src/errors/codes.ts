/**
 * Every error code of this package. A code never changes its meaning. `docs/errors.md` has a
 * heading for each code.
 */
export const ormErrorCodes = [
  "KW_MODEL_INVALID",
  "KW_ROW_INVALID",
  "KW_STORED_ROW_INVALID",
  "KW_ROW_NOT_FOUND",
  "KW_UNIQUE_CONSTRAINT",
  "KW_VERSION_CONFLICT",
  "KW_PRIMARY_KEY_CHANGED",
  "KW_PRIMARY_KEY_DIFFERS",
  "KW_REFERENCE_MISSING",
  "KW_ROW_REFERENCED",
  "KW_INDEX_KEY_INVALID",
  "KW_AMOUNT_INVALID",
  "KW_INDEX_UNKNOWN",
  "KW_INDEX_NOT_READY",
  "KW_INDEX_CHANGED",
  "KW_QUERY_UNINDEXED",
  "KW_QUERY_INVALID",
  "KW_ARGUMENT_INVALID",
  "KW_READ_LIMIT",
  "KW_CURSOR_INVALID",
  "KW_LIVE_UNAVAILABLE",
  "KW_TRANSACTION_CONFLICT",
  "KW_TRANSACTION_ENDED",
  "KW_TRANSACTION_NOT_AWAITED",
  "KW_TRANSACTION_BYPASSED",
  "KW_STALE_SCHEMA",
  "KW_SYSTEM_ENTRY_INVALID",
  "KW_SCHEMA_NOT_MIGRATED",
  "KW_ROW_UPGRADE",
  "KW_MIGRATION_MISSING",
  "KW_LEASE_LOST",
] as const;

/** A code of {@link ormErrorCodes}. */
export type OrmErrorCode = (typeof ormErrorCodes)[number];
