import { OrmError, type RowId } from "./orm-error.js";

/** A write by a program whose models are newer than the database. */
export class SchemaNotMigratedError extends OrmError {
  /** What the database does not have yet, a short sentence each. */
  readonly differences: readonly string[];

  constructor(model: string, differences: readonly string[]) {
    super("KW_SCHEMA_NOT_MIGRATED", model);
    this.differences = differences;
  }
}

/** A row of an earlier schema that cannot be made one of this program's. `cause` is what the migration threw. */
export class RowUpgradeError extends OrmError {
  readonly rowId: RowId;
  readonly reason: string;

  constructor(model: string, rowId: RowId, reason: string, cause?: unknown) {
    super("KW_ROW_UPGRADE", model, { cause });
    this.rowId = rowId;
    this.reason = reason;
  }
}

/** Another runner has taken over the migration that this one had begun. Nothing was written since. */
export class LeaseLostError extends OrmError {
  constructor() {
    super("KW_LEASE_LOST", "", { retryable: true });
  }
}
