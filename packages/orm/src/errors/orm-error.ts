import { KeywrightError, type KeywrightErrorOptions, type KvKeyPart } from "@keywright/core";
import { type OrmErrorCode, ormErrorMessages } from "./codes.js";

/** The name of the repository's method that is called. */
export type Operation =
  | "findUnique"
  | "findUniqueOrThrow"
  | "findFirst"
  | "findFirstOrThrow"
  | "findMany"
  | "scan"
  | "count"
  | "exists"
  | "explain"
  | "watch"
  | "create"
  | "createMany"
  | "update"
  | "updateMany"
  | "upsert"
  | "delete"
  | "deleteMany";

/** The base class of the ORM's errors. Each names a model. */
export class OrmError extends KeywrightError {
  readonly model: string;
  /** The method of the repository that threw. Undefined if no such method was called. */
  readonly operation: Operation | undefined;

  constructor(code: OrmErrorCode, model: string, options?: KeywrightErrorOptions) {
    super(code, ormErrorMessages[code], options);
    this.model = model;
    this.operation = undefined;
  }
}

/** Adds the name of the method to an error, if it has none yet. */
export function addOperation(error: unknown, operation: Operation): void {
  if (error instanceof OrmError && error.operation === undefined) {
    (error as { operation: Operation | undefined }).operation = operation;
  }
}

/** The primary key of a row. A list if the key has several parts. */
export type RowId = KvKeyPart | readonly KvKeyPart[];
