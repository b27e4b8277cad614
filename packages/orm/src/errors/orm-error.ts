import { KeywrightError, type KeywrightErrorOptions, type KvKeyPart } from "@keywright/core";
import { type OrmErrorCode, ormErrorMessages } from "./codes.js";

/** What a call of a repository does: the name of its method. */
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

/** The base of the ORM's errors: each names its model. */
export class OrmError extends KeywrightError {
  readonly model: string;
  /** The repository's method that threw; undefined where no such method was called. */
  readonly operation: Operation | undefined;

  constructor(code: OrmErrorCode, model: string, options?: KeywrightErrorOptions) {
    super(code, ormErrorMessages[code], options);
    this.model = model;
    this.operation = undefined;
  }
}

/** Says in an error which method threw it, where it does not say so yet. */
export function nameOperation(error: unknown, operation: Operation): void {
  if (error instanceof OrmError && error.operation === undefined) {
    (error as { operation: Operation | undefined }).operation = operation;
  }
}

/** Which row has a value: its primary key, the parts in a list where it has several. */
export type RowId = KvKeyPart | readonly KvKeyPart[];
