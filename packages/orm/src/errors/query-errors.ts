import { clause } from "./message-parts.js";
import { type MessageText, OrmError } from "./orm-error.js";

/**
 * No index serves the query, so it would have to read the whole table. `suggestion` is the code of
 * an index that would serve it. A comment in the code names the conditions that must move to
 * `filter`. If the model already has such an index, `suggestion` says how to use it.
 */
export class UnindexedQueryError extends OrmError {
  readonly fields: readonly string[];
  readonly suggestion: string;

  constructor(model: string, fields: readonly string[], suggestion: string, text: MessageText) {
    super("KW_QUERY_UNINDEXED", model, text);
    this.fields = fields;
    this.suggestion = suggestion;
  }
}

/** A condition is empty or cannot be looked up in an index. */
export class InvalidQueryError extends OrmError {
  readonly field: string;
  readonly reason: string;

  constructor(
    model: string,
    field: string,
    reason: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super("KW_QUERY_INVALID", model, `${field} is not valid: ${clause(reason)}`, options);
    this.field = field;
    this.reason = reason;
  }
}

/** The cursor belongs to another query, or was modified. */
export class InvalidCursorError extends OrmError {
  readonly cursor: string;

  constructor(model: string, cursor: string) {
    const text =
      "the cursor belongs to another query, or was changed; pass the cursor of the last page with the same where, orderBy and index";
    super("KW_CURSOR_INVALID", model, text);
    this.cursor = cursor;
  }
}

/**
 * An argument is missing or not valid. `argument` is its name or path, and `reason` says what it
 * must be.
 */
export class InvalidArgumentError extends OrmError {
  readonly argument: string;
  readonly reason: string;

  /** @param call the function that has the argument, if it has no model. */
  constructor(model: string, argument: string, reason: string, call?: string) {
    const place = call === undefined ? "" : `${call}: `;
    super("KW_ARGUMENT_INVALID", model, `${place}${argument} is not valid: ${clause(reason)}`);
    this.argument = argument;
    this.reason = reason;
  }
}

/**
 * The query needs to read more entries than `maxReads`. An index entry and a row count as one read
 * each.
 */
export class ReadLimitError extends OrmError {
  readonly maxReads: number;
  /** The index that was read. `"primaryKey"` if rows were read by primary key or in its order. */
  readonly index: string | undefined;

  constructor(model: string, maxReads: number, index: string | undefined) {
    const source =
      index === undefined ? "" : index === "primaryKey" ? " of the rows" : ` of the index ${index}`;
    const text = `the query needs more reads${source} than maxReads allows (${maxReads}); lower take, narrow where, or raise maxReads`;
    super("KW_READ_LIMIT", model, text);
    this.maxReads = maxReads;
    this.index = index;
  }
}

/**
 * A live query needs to watch ranges. The database cannot do this, and the model does not have
 * `live: true`.
 */
export class LiveQueryUnavailableError extends OrmError {
  constructor(model: string) {
    const text =
      "this database cannot watch ranges of keys, as a live query must; define the model with live: true";
    super("KW_LIVE_UNAVAILABLE", model, text);
  }
}
