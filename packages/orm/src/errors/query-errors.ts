import { OrmError } from "./orm-error.js";

/**
 * A query that would have to read the whole table. `suggestion` is an index, in code, that would serve it; what it would not
 * is in a comment behind it. Where the model has such an index, it says how to ask for that.
 */
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

  constructor(
    model: string,
    field: string,
    reason: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super("KW_QUERY_INVALID", model, options);
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

/** An argument that is missing, or not what it has to be. `argument` is its name or its path, `reason` what it has to be. */
export class InvalidArgumentError extends OrmError {
  readonly argument: string;
  readonly reason: string;

  constructor(model: string, argument: string, reason: string) {
    super("KW_ARGUMENT_INVALID", model);
    this.argument = argument;
    this.reason = reason;
  }
}

/** A query that reads more entries than its `maxReads`: an index entry and a row are a read each. */
export class ReadLimitError extends OrmError {
  readonly maxReads: number;
  /** The index that was read; undefined for the rows themselves. */
  readonly index: string | undefined;

  constructor(model: string, maxReads: number, index: string | undefined) {
    super("KW_READ_LIMIT", model);
    this.maxReads = maxReads;
    this.index = index;
  }
}

/** A live query on a database that does not tell what changes, of a model that does not keep a record of it. */
export class LiveQueryUnavailableError extends OrmError {
  constructor(model: string) {
    super("KW_LIVE_UNAVAILABLE", model);
  }
}
