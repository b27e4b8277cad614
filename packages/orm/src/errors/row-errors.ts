import type { KvKeyPart } from "@keywright/core";
import type * as z from "zod";
import { listText } from "./message-parts.js";
import { addPositionToMessage, OrmError, type RowId } from "./orm-error.js";
import { issuesMessage, issuesReason, type RowIssue } from "./row-issue.js";

const keyKinds = "a key holds strings, numbers, bigints, booleans, Uint8Arrays and dates";

/** Zod's issues with the schema that they are about. The message of an error is made from them. */
interface Violation {
  readonly error: z.ZodError;
  readonly schema: z.core.$ZodType;
}

function rowIssues({ error }: Violation): readonly RowIssue[] {
  return error.issues.map(({ path, code, message }) => ({ path, code: code ?? "custom", message }));
}

/** The schema refuses a row. `issues` lists every violation. Nothing was written. */
export class RowInvalidError extends OrmError {
  /** The issues as text: `address.city: Required; …`. */
  readonly reason: string;
  readonly issues: readonly RowIssue[];
  /**
   * The position of the refused row in the `data` of an atomic `createMany`, from 0. Otherwise
   * undefined, also if a hook threw the error.
   */
  readonly position: number | undefined;

  constructor(model: string, violation: Violation) {
    const { error, schema } = violation;
    const text = `the row does not fit the schema: ${issuesMessage(error.issues, schema)}`;
    super("KW_ROW_INVALID", model, text, { cause: error });
    this.issues = rowIssues(violation);
    this.reason = issuesReason(this.issues);
    this.position = undefined;
  }
}

/** The log has no version of a row that a commit has made. */
export class RowVersionNotFoundError extends OrmError {
  readonly versionstamp: string;
  /**
   * `"notLogged"` if the log has no such commit, for example because it began later. `"otherRow"`
   * if the commit has made no version of this row.
   */
  readonly reason: "notLogged" | "otherRow";

  constructor(model: string, versionstamp: string, reason: "notLogged" | "otherRow") {
    const texts = {
      notLogged: `the log has no commit ${versionstamp}: it is from before the log began, or was removed from it; take a version that history returns with a time`,
      otherRow: `the commit ${versionstamp} has made no version of the row; take one that history returns with a row`,
    };
    super("KW_ROW_VERSION_NOT_FOUND", model, texts[reason]);
    this.versionstamp = versionstamp;
    this.reason = reason;
  }
}

/** The row does not exist. */
export class RowNotFoundError extends OrmError {
  readonly where: unknown;

  constructor(model: string, where: unknown) {
    const fields = typeof where === "object" && where !== null ? Object.keys(where) : [];
    const found =
      fields.length === 0 ? "the query finds no row" : `no row has this ${listText(fields)}`;
    super("KW_ROW_NOT_FOUND", model, (operation) => {
      const advice =
        operation === "update"
          ? "create the row first, or call upsert"
          : operation === "delete"
            ? "check where; the row may have been deleted already"
            : operation === "create" || operation === "upsert"
              ? "create that row first, or use connectOrCreate"
              : "check where, or call a method without OrThrow, which returns null";
      return `${found}; ${advice}`;
    });
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
      /** True for the definition that the index had before. Its values stay unique for a while. */
      isEarlier?: boolean;
      /** True if the row that has the primary key is marked as deleted. */
      isDeleted?: boolean;
    },
  ) {
    const { index, fields, isEarlier = false, isDeleted = false } = conflict;
    const key = index === "primaryKey" ? "primary key" : `unique index ${index}`;
    const keyAndTime = isEarlier ? `${key} as it was before it changed` : key;
    const remedies = isDeleted
      ? ["call restore", "or purge to remove the row"]
      : [
          ...(isEarlier ? ["run migrate until the change of the index is done"] : []),
          "use another value",
          "or change the row that has it",
        ];
    const verb = fields.length === 1 ? "is" : "together are";
    const by = isDeleted ? " by a row that is marked as deleted" : "";
    const text = `${listText(fields)} ${verb} already taken${by} (${keyAndTime}); ${remedies.join(", ")}`;
    super("KW_UNIQUE_CONSTRAINT", model, text);
    this.index = index;
    this.fields = fields;
    this.value = conflict.value;
    this.ownerId = conflict.ownerId;
    this.position = undefined;
  }
}

/**
 * The row's versionstamp is not `ifVersion`, or other writers changed the row in each attempt. In
 * the second case the error is retryable: the same call may succeed if it is repeated. A row never
 * has an earlier versionstamp again, so a call with `ifVersion` cannot.
 */
export class VersionConflictError extends OrmError {
  readonly id: RowId;
  readonly attempts: number;

  /** @param attempts `"ifVersion"` if the row does not have that versionstamp. */
  constructor(model: string, id: RowId, attempts: number | "ifVersion") {
    const retryable = attempts !== "ifVersion";
    const text = retryable
      ? `other writers changed the row during ${attempts === 1 ? "the call" : `each of ${attempts} attempts`}; call again`
      : "the row has another version than ifVersion; read it again and decide";
    super("KW_VERSION_CONFLICT", model, text, { retryable });
    this.id = id;
    this.attempts = retryable ? attempts : 1;
  }
}

/** An update contains another primary key. */
export class PrimaryKeyChangeError extends OrmError {
  readonly field: string;

  constructor(model: string, field: string) {
    const text = `${field} is in the primary key, which cannot change; create a row with the new key, then delete the old one`;
    super("KW_PRIMARY_KEY_CHANGED", model, text);
    this.field = field;
  }
}

/** Why a key cannot hold a value of a type that keys can hold. */
export type KeyProblem = "surrogate" | "length";

/** A value that cannot be part of a key, such as an object, or text that is too long. */
export class IndexKeyError extends OrmError {
  readonly index: string;
  readonly field: string;
  readonly valueType: string;
  /**
   * The primary key of the row that has the value. Undefined if the value does not come from a row.
   */
  readonly id: RowId | undefined;
  /**
   * `"surrogate"` for a string with a lone surrogate, `"length"` if the key is longer than the
   * database allows. Undefined if no key can hold values of this type, or if a function threw.
   */
  readonly problem: KeyProblem | undefined;

  constructor(
    model: string,
    index: string,
    field: string,
    valueType: string,
    options: {
      readonly id?: RowId | undefined;
      readonly cause?: unknown;
      readonly problem?: KeyProblem | undefined;
    } = {},
  ) {
    const { cause, problem } = options;
    const text =
      problem === undefined
        ? indexKeyText(index, field, valueType, cause)
        : problemText(index, field, problem);
    super("KW_INDEX_KEY_INVALID", model, text, { cause });
    this.id = options.id;
    this.problem = problem;
    this.index = index;
    this.field = field;
    this.valueType = valueType;
  }
}

/** A row has a value that the sums of its model cannot hold. Nothing was written. */
export class AmountInvalidError extends OrmError {
  readonly field: string;
  /** The number of digits after the decimal point that the sum holds. 0 for integers. */
  readonly scale: number;
  /** The primary key of the row. */
  readonly id: RowId;

  constructor(model: string, field: string, scale: number, id: RowId) {
    const text =
      scale === 0
        ? `${field} cannot be added to its sum, which holds integers of less than 127 bits; change the value`
        : `${field} cannot be added to its sum, which holds decimal numbers with at most ${scale} digits after the point; round the value`;
    super("KW_AMOUNT_INVALID", model, text);
    this.field = field;
    this.scale = scale;
    this.id = id;
  }
}

function keyName(index: string): string {
  return index === "primaryKey" ? "the primary key" : `the index ${index}`;
}

function problemText(index: string, field: string, problem: KeyProblem): string {
  return problem === "surrogate"
    ? `${keyName(index)} cannot hold ${field}, which has a lone surrogate; toWellFormed() replaces it`
    : `${keyName(index)} cannot hold ${field}, because the key is longer than the database allows; shorten ${field}, or index a shorter value of the row`;
}

function indexKeyText(index: string, field: string, valueType: string, cause: unknown): string {
  const key = keyName(index);
  if (cause !== undefined) {
    return `a function of ${key} threw for ${field}; correct the function, or the row (cause says why)`;
  }
  if (valueType === "promise") {
    return `the function of ${key} for ${field} returned a promise; it must be synchronous`;
  }
  return `${key} cannot hold ${field}, whose type is ${valueType}; ${keyKinds}`;
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

  /** @param violation undefined if the stored value is not an object. */
  constructor(model: string, id: RowId, violation?: Violation) {
    const issues =
      violation === undefined
        ? "it is not an object"
        : issuesMessage(violation.error.issues, violation.schema);
    const text = `a stored row does not fit the schema: ${issues}; correct the row (id says which), or the schema`;
    super("KW_STORED_ROW_INVALID", model, text);
    this.id = id;
    const notObject = { path: [], code: "invalid_type", message: "It is not an object." };
    this.issues = violation === undefined ? [notObject] : rowIssues(violation);
    this.reason = issuesReason(this.issues);
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
    const { relation, fields, target } = reference;
    const verb = fields.length === 1 ? "refers" : "refer";
    const text = `${listText(fields)} ${verb} to a row of ${target} that does not exist (relation ${relation}); create that row first`;
    super("KW_REFERENCE_MISSING", model, text);
    this.relation = relation;
    this.fields = fields;
    this.target = target;
    this.targetId = reference.targetId;
    this.position = undefined;
  }
}

/**
 * Returns the error with the position of its row in the `data` of `createMany`. Errors of other
 * classes, which do not tell a position, are returned as they are.
 */
export function withPosition(error: unknown, position: number): unknown {
  if (error instanceof RowInvalidError) {
    const issues = error.issues.map((issue) => ({ ...issue, path: [position, ...issue.path] }));
    Object.assign(error, { issues, reason: issuesReason(issues), position });
  } else if (error instanceof UniqueConstraintError || error instanceof ReferenceMissingError) {
    (error as { position: number | undefined }).position = position;
  } else {
    return error;
  }
  addPositionToMessage(error, position);
  return error;
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
    const text = `a row of ${by.model} refers to the row (relation ${by.relation}); delete or change that row first, or define the relation with another onDelete`;
    super("KW_ROW_REFERENCED", model, text);
    this.id = id;
    this.by = by;
  }
}

/**
 * A nested write would separate a row from the row that it refers to, but its reference cannot be
 * empty: the schema does not accept that, or a hook has kept it. Nothing was written.
 */
export class ReferenceRequiredError extends OrmError {
  /** The fields that hold the reference. */
  readonly fields: readonly string[];
  /** The primary key of the row that would lose its reference. */
  readonly id: RowId;

  constructor(model: string, fields: readonly string[], id: RowId) {
    const text = `a row of ${model} refers to the row, and ${listText(fields)} cannot be empty; delete that row, or connect it to another one`;
    super("KW_REFERENCE_REQUIRED", model, text);
    this.fields = fields;
    this.id = id;
  }
}

/**
 * Adds the place in the data of a nested write to the issues of a row that the schema refuses. They
 * then have paths from the beginning of the data.
 */
export function addPathToIssues(error: RowInvalidError, path: readonly PropertyKey[]): void {
  const issues = error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
  Object.assign(error, { issues, reason: issuesReason(issues) });
}
