import type { KvKeyPart } from "@keywright/core";
import * as z from "zod";
import { OrmError, type RowId } from "./orm-error.js";

/** One thing that the schema found wrong: where in the row, and what. */
export interface RowIssue {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

/** How many issues a reason tells of. */
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

/** A row that its schema refuses: every issue with its path. Nothing was written. */
export class RowInvalidError extends OrmError {
  /** The issues as a text for people: `address.city: Required; …`. */
  readonly reason: string;
  readonly issues: readonly RowIssue[];

  constructor(model: string, issues: readonly RowIssue[], cause?: unknown) {
    super("KW_ROW_INVALID", model, { cause });
    this.reason = reasonOf(issues);
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
  /** The place of the refused row in the `data` of an atomic `createMany`, from 0; undefined elsewhere. */
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

/** A stored row that its schema refuses: it was written by hand, or by a program with another schema. */
export class StoredRowInvalidError extends OrmError {
  readonly id: RowId;
  /** The issues as a text for people: `address.city: Required; …`. */
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
 * A row whose fields refer to a row that is not there. Nothing was written. A read throws it where that row has to be there:
 * it was written by hand, or the row that it refers to has expired.
 */
export class ReferenceMissingError extends OrmError {
  /** The relation by which it refers. */
  readonly relation: string;
  readonly fields: readonly string[];
  /** The model of the row that is missing. */
  readonly target: string;
  /** Its primary key. */
  readonly targetId: RowId;
  /** The place of the refused row in the `data` of an atomic `createMany`, from 0; undefined elsewhere. */
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

/** Says in an error which of the rows of a `createMany` it is of, where it has a place for that. */
export function placeError(error: unknown, position: number): void {
  if (error instanceof UniqueConstraintError || error instanceof ReferenceMissingError) {
    (error as { position: number | undefined }).position = position;
  }
}

/** A delete of a row to which another refers by a relation with `onDelete: "restrict"`. Nothing was written. */
export class RowReferencedError extends OrmError {
  readonly id: RowId;
  /** The row that refers to it, by which relation of its model. */
  readonly by: { readonly model: string; readonly relation: string; readonly id: RowId };

  constructor(model: string, id: RowId, by: RowReferencedError["by"]) {
    super("KW_ROW_REFERENCED", model);
    this.id = id;
    this.by = by;
  }
}
