import { KeywrightError, type KeywrightErrorOptions, type KvKeyPart } from "@keywright/core";
import { type OrmErrorCode, ormErrorMessages } from "./codes.js";

/** The base of the ORM's errors: each names its model. */
export class OrmError extends KeywrightError {
  readonly model: string;

  constructor(code: OrmErrorCode, model: string, options?: KeywrightErrorOptions) {
    super(code, ormErrorMessages[code], options);
    this.model = model;
  }
}

/** A model whose definition contradicts itself, its schema or another model. `at` is the place within it. */
export class ModelDefinitionError extends OrmError {
  readonly at: string;
  readonly reason: string;

  constructor(model: string, at: string, reason: string) {
    super("KW_MODEL_INVALID", model);
    this.at = at;
    this.reason = reason;
  }
}

/** One thing that the schema found wrong: where in the row, and what. */
export interface RowIssue {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

/** A row that its schema refuses: every issue with its path. Nothing was written. */
export class RowInvalidError extends OrmError {
  readonly issues: readonly RowIssue[];

  constructor(model: string, issues: readonly RowIssue[], cause?: unknown) {
    super("KW_ROW_INVALID", model, { cause });
    this.issues = issues;
  }
}

/** An update or delete of a row that is not there. */
export class RowNotFoundError extends OrmError {
  readonly where: unknown;

  constructor(model: string, where: unknown) {
    super("KW_ROW_NOT_FOUND", model);
    this.where = where;
  }
}

/** Which row has a value: its primary key, the parts in a list where it has several. */
export type RowId = KvKeyPart | readonly KvKeyPart[];

/** A create or update whose value of a unique index, or whose primary key, another row has. Nothing was written. */
export class UniqueConstraintError extends OrmError {
  /** The name of the index; `"primaryKey"` for the primary key. */
  readonly index: string;
  /** The fields of its key. */
  readonly fields: readonly string[];
  /** The parts of the key that is taken, as they stand in the index. */
  readonly value: readonly KvKeyPart[];
  /** The primary key of the row that has it. */
  readonly ownerId: RowId;

  constructor(
    model: string,
    conflict: {
      index: string;
      fields: readonly string[];
      value: readonly KvKeyPart[];
      ownerId: RowId;
    },
  ) {
    super("KW_UNIQUE_CONSTRAINT", model);
    this.index = conflict.index;
    this.fields = conflict.fields;
    this.value = conflict.value;
    this.ownerId = conflict.ownerId;
  }
}

/** Other writers changed the row in each of many attempts. The same call may be made again. */
export class VersionConflictError extends OrmError {
  readonly id: RowId;
  readonly attempts: number;

  constructor(model: string, id: RowId, attempts: number) {
    super("KW_VERSION_CONFLICT", model, { retryable: true });
    this.id = id;
    this.attempts = attempts;
  }
}

/** An update that names another primary key. */
export class PrimaryKeyChangeError extends OrmError {
  readonly field: string;

  constructor(model: string, field: string) {
    super("KW_PRIMARY_KEY_CHANGED", model);
    this.field = field;
  }
}

/** A value that cannot be part of a key, such as an object. */
export class IndexKeyError extends OrmError {
  readonly index: string;
  readonly field: string;
  readonly valueType: string;
  /** The primary key of the row, where the value is a row's. */
  readonly id: RowId | undefined;

  constructor(
    model: string,
    index: string,
    field: string,
    valueType: string,
    options: { readonly id?: RowId; readonly cause?: unknown } = {},
  ) {
    super("KW_INDEX_KEY_INVALID", model, { cause: options.cause });
    this.id = options.id;
    this.index = index;
    this.field = field;
    this.valueType = valueType;
  }
}

/** An index name that the model does not have. */
export class UnknownIndexError extends OrmError {
  readonly index: string;
  readonly known: readonly string[];

  constructor(model: string, index: string, known: readonly string[]) {
    super("KW_INDEX_UNKNOWN", model);
    this.index = index;
    this.known = known;
  }
}

/** A read through an index that is declared and not built yet. */
export class IndexNotReadyError extends OrmError {
  readonly index: string;
  readonly state: string;

  constructor(model: string, index: string, state: string) {
    super("KW_INDEX_NOT_READY", model, { retryable: true });
    this.index = index;
    this.state = state;
  }
}

/** An index whose key, prefix or uniqueness is not what the database holds under its name. */
export class IndexChangedError extends OrmError {
  readonly index: string;
  readonly stored: unknown;
  readonly declared: unknown;

  constructor(model: string, index: string, stored: unknown, declared: unknown) {
    super("KW_INDEX_CHANGED", model);
    this.index = index;
    this.stored = stored;
    this.declared = declared;
  }
}

/** A query that would have to read the whole table. `suggestion` is an index, in code, that would serve it. */
export class UnindexedQueryError extends OrmError {
  readonly fields: readonly string[];
  readonly suggestion: string;

  constructor(model: string, fields: readonly string[], suggestion: string) {
    super("KW_QUERY_UNINDEXED", model);
    this.fields = fields;
    this.suggestion = suggestion;
  }
}

/** A condition that says nothing, or nothing that can be looked up. */
export class InvalidQueryError extends OrmError {
  readonly field: string;
  readonly reason: string;

  constructor(model: string, field: string, reason: string) {
    super("KW_QUERY_INVALID", model);
    this.field = field;
    this.reason = reason;
  }
}

/** A cursor of another query, or one that was changed. */
export class InvalidCursorError extends OrmError {
  readonly cursor: string;

  constructor(model: string, cursor: string) {
    super("KW_CURSOR_INVALID", model);
    this.cursor = cursor;
  }
}

/** A write by a program whose models are older than the database. Its reads still work. */
export class StaleSchemaError extends OrmError {
  /** The indexes that the database has and this program's model does not. */
  readonly unknownIndexes: readonly string[];

  constructor(model: string, unknownIndexes: readonly string[]) {
    super("KW_STALE_SCHEMA", model);
    this.unknownIndexes = unknownIndexes;
  }
}
