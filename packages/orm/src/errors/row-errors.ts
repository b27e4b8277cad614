import type { KvKeyPart } from "@keywright/core";
import * as z from "zod";
import { OrmError, type RowId } from "./orm-error.js";

/** A violation of the schema, with its path in the row. */
export interface RowIssue {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

/** The maximum number of issues in a `reason`. */
const toldIssues = 5;

function reasonOf(issues: readonly RowIssue[]): string {
  const told = issues
    .slice(0, toldIssues)
    .map(({ path, message }) =>
      path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`,
    );
  const more = issues.length - told.length;
  return [...told, ...(more > 0 ? [`${more} more`] : [])].join("; ");
}

/** The schema refuses a row. `issues` lists every violation. Nothing was written. */
export class RowInvalidError extends OrmError {
  /** The issues as text: `address.city: Required; …`. */
  readonly reason: string;
  readonly issues: readonly RowIssue[];

  constructor(model: string, issues: readonly RowIssue[], cause?: unknown) {
    super("KW_ROW_INVALID", model, { cause });
    this.reason = reasonOf(issues);
    this.issues = issues;
  }
}

/** The row does not exist. */
export class RowNotFoundError extends OrmError {
  readonly where: unknown;

  constructor(model: string, where: unknown) {
    super("KW_ROW_NOT_FOUND", model);
    this.where = where;
  }
}

/**
 * Another row has the same primary key or the same value of a unique index. Nothing was written.
 */
export class UniqueConstraintError extends OrmError {
  /** The name of the index, or `"primaryKey"`. */
  readonly index: string;
  /** The fields of the index or of the primary key. */
  readonly fields: readonly string[];
  /** The key parts that the other row has, as they are stored in the index. */
  readonly value: readonly KvKeyPart[];
  /** The primary key of the other row. */
  readonly ownerId: RowId;
  /**
   * The position of the refused row in the `data` of an atomic `createMany`, from 0. Otherwise
   * undefined.
   */
  readonly position: number | undefined;

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
    this.position = undefined;
  }
}

/**
 * The row's versionstamp is not `ifVersion`, or other writers changed the row in each attempt. In
 * the second case, the same call may succeed if it is repeated.
 */
export class VersionConflictError extends OrmError {
  readonly id: RowId;
  readonly attempts: number;

  constructor(model: string, id: RowId, attempts: number) {
    super("KW_VERSION_CONFLICT", model, { retryable: true });
    this.id = id;
    this.attempts = attempts;
  }
}

/** An update contains another primary key. */
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
  /**
   * The primary key of the row that has the value. Undefined if the value does not come from a row.
   */
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

/**
 * The schema refuses a stored row. The row was written by hand, or by a program with another
 * schema.
 */
export class StoredRowInvalidError extends OrmError {
  readonly id: RowId;
  /** The issues as text: `address.city: Required; …`. */
  readonly reason: string;
  readonly issues: readonly RowIssue[];

  constructor(model: string, id: RowId, issues: readonly RowIssue[]) {
    super("KW_STORED_ROW_INVALID", model);
    this.id = id;
    this.reason = reasonOf(issues);
    this.issues = issues;
  }
}

/**
 * A row refers to a row that does not exist. If a write throws this, nothing was written. If a read
 * throws it, the referring row was written by hand, or the row that it refers to has expired.
 */
export class ReferenceMissingError extends OrmError {
  /** The name of the relation. */
  readonly relation: string;
  readonly fields: readonly string[];
  /** The model of the missing row. */
  readonly target: string;
  /** The primary key of the missing row. */
  readonly targetId: RowId;
  /**
   * The position of the refused row in the `data` of an atomic `createMany`, from 0. Otherwise
   * undefined.
   */
  readonly position: number | undefined;

  constructor(
    model: string,
    reference: { relation: string; fields: readonly string[]; target: string; targetId: RowId },
  ) {
    super("KW_REFERENCE_MISSING", model);
    this.relation = reference.relation;
    this.fields = reference.fields;
    this.target = reference.target;
    this.targetId = reference.targetId;
    this.position = undefined;
  }
}

/**
 * Adds the position of a row in the `data` of `createMany` to an error, if its class has a field
 * for it.
 */
export function addPosition(error: unknown, position: number): void {
  if (error instanceof UniqueConstraintError || error instanceof ReferenceMissingError) {
    (error as { position: number | undefined }).position = position;
  }
}

/**
 * A row cannot be deleted because another row refers to it, by a relation with
 * `onDelete: "restrict"`, or with `"setNull"` if a hook or the schema keeps the reference.
 */
export class RowReferencedError extends OrmError {
  readonly id: RowId;
  /** The row that refers to it, with the relation of its model. */
  readonly by: { readonly model: string; readonly relation: string; readonly id: RowId };

  constructor(model: string, id: RowId, by: RowReferencedError["by"]) {
    super("KW_ROW_REFERENCED", model);
    this.id = id;
    this.by = by;
  }
}
