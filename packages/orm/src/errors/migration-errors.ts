import { OrmError, type RowId } from "./orm-error.js";

/** A write was refused because the program's models are newer than the database's schema. */
export class SchemaNotMigratedError extends OrmError {
  /** Short sentences about what the database does not have yet. */
  readonly differences: readonly string[];

  constructor(model: string, differences: readonly string[]) {
    super("KW_SCHEMA_NOT_MIGRATED", model);
    this.differences = differences;
  }
}

/**
 * A row of an earlier schema cannot be upgraded to the program's schema. If the migration threw,
 * `cause` is its error.
 */
export class RowUpgradeError extends OrmError {
  readonly rowId: RowId;
  readonly reason: string;

  constructor(model: string, rowId: RowId, reason: string, cause?: unknown) {
    super("KW_ROW_UPGRADE", model, { cause });
    this.rowId = rowId;
    this.reason = reason;
  }
}

/** Another runner has taken over the migration. This runner has written nothing since then. */
export class LeaseLostError extends OrmError {
  constructor() {
    super("KW_LEASE_LOST", "", { retryable: true });
  }
}
