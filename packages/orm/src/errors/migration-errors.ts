import { KeywrightError } from "@keywright/core";
import { clause } from "./message-parts.js";
import { OrmError, type RowId } from "./orm-error.js";
import { InvalidArgumentError } from "./query-errors.js";

/** A write was refused because the program's models are newer than the database's schema. */
export class SchemaNotMigratedError extends OrmError {
  /** Short sentences about what the database does not have yet. */
  readonly differences: readonly string[];

  constructor(model: string, differences: readonly string[]) {
    const missing = differences.map(clause).join("; ");
    const text = `the database does not have this program's schema yet (${missing}); run migrate`;
    super("KW_SCHEMA_NOT_MIGRATED", model, text);
    this.differences = differences;
  }
}

/**
 * A stored row was not returned because it does not fit the program's schema in a field that has
 * changed, and no migration leads from the stored schema to the program's.
 */
export class MigrationMissingError extends OrmError {
  /** The fields in which the row does not fit. */
  readonly fields: readonly string[];
  /** For each of these fields, a sentence about its change. */
  readonly differences: readonly string[];

  constructor(
    model: string,
    changes: readonly { readonly field: string; readonly reason: string }[],
  ) {
    const differences = changes.map(({ reason }) => reason);
    const text = `a stored row does not fit this program's schema (${differences.map(clause).join("; ")})`;
    super(
      "KW_MIGRATION_MISSING",
      model,
      `${text}; write the migration with \`keywright migrate new\`, and run migrate`,
    );
    this.fields = changes.map(({ field }) => field);
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
    const text = `a row of an earlier schema (rowId says which) cannot be upgraded: ${causeText(cause)}; correct the row or the migration`;
    super("KW_ROW_UPGRADE", model, text, { cause });
    this.rowId = rowId;
    this.reason = reason;
  }
}

/** Only own errors are shown: one that a migration throws may quote the row. */
function causeText(cause: unknown): string {
  if (cause instanceof InvalidArgumentError) return `${cause.argument}: ${clause(cause.reason)}`;
  return cause instanceof KeywrightError ? cause.message : "its migration threw (cause says why)";
}

/** Another runner has taken over the migration. This runner has written nothing since then. */
export class LeaseLostError extends OrmError {
  constructor() {
    const text =
      "migrate: another runner has taken over the migration, because this one was silent for too long; let that one finish, or call again";
    super("KW_LEASE_LOST", "", text, { retryable: true });
  }
}
