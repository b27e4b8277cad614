/**
 * The message of each error code of this package. A code never changes its meaning. Details that
 * vary are fields of the error. Each code has a heading in `docs/errors.md`.
 */
export const ormErrorMessages = {
  KW_MODEL_INVALID: "This model definition is not valid.",
  KW_ROW_INVALID: "The row does not fit the schema of its model.",
  KW_STORED_ROW_INVALID: "A stored row no longer fits the schema of its model.",
  KW_ROW_NOT_FOUND: "There is no such row.",
  KW_UNIQUE_CONSTRAINT: "Another row has this value, which is unique.",
  KW_VERSION_CONFLICT: "The row has been changed by somebody else.",
  KW_PRIMARY_KEY_CHANGED:
    "A primary key cannot be changed: create a row with the new key, then delete the old one.",
  KW_REFERENCE_MISSING: "The row refers to a row that is not there.",
  KW_ROW_REFERENCED: "The row cannot be deleted while others refer to it.",
  KW_INDEX_KEY_INVALID: "The row has a value that its index cannot hold.",
  KW_INDEX_UNKNOWN: "The model has no index of this name.",
  KW_INDEX_NOT_READY:
    "The index cannot be read yet: run a migration, wait for the one that builds it, or settle the unique values that rows share.",
  KW_INDEX_CHANGED:
    "The database holds this index with another definition: migrate to build it anew, or give the new one another name.",
  KW_QUERY_UNINDEXED: "No index serves this query.",
  KW_QUERY_INVALID: "A condition of this query is not valid.",
  KW_ARGUMENT_INVALID: "An argument of this call is not valid.",
  KW_READ_LIMIT: "The query would read more than it may.",
  KW_CURSOR_INVALID: "The cursor does not belong to this query.",
  KW_LIVE_UNAVAILABLE:
    "This database does not tell which of its ranges change: define the model with live: true.",
  KW_TRANSACTION_CONFLICT: "Others kept changing what the transaction had read.",
  KW_TRANSACTION_ENDED: "The transaction has ended: await all of its calls within it.",
  KW_STALE_SCHEMA:
    "The database has something that this program's models lack, and that its write would damage.",
  KW_SCHEMA_NOT_MIGRATED: "The database does not have this program's schema yet: migrate it.",
  KW_ROW_UPGRADE: "A row of an earlier schema cannot be made one of this program's.",
  KW_LEASE_LOST: "Another runner has taken over this migration.",
} as const;

/** A code of {@link ormErrorMessages}. */
export type OrmErrorCode = keyof typeof ormErrorMessages;
