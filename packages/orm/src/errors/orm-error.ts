import { KeywrightError, type KeywrightErrorOptions, type KvKeyPart } from "@keywright/core";
import type { OrmErrorCode } from "./codes.js";

/** The name of the repository's method that is called. */
export type Operation =
  | "findUnique"
  | "findUniqueOrThrow"
  | "findFirst"
  | "findFirstOrThrow"
  | "findMany"
  | "scan"
  | "count"
  | "aggregate"
  | "groupBy"
  | "rank"
  | "distinct"
  | "exists"
  | "explain"
  | "watch"
  | "create"
  | "createMany"
  | "update"
  | "updateMany"
  | "upsert"
  | "delete"
  | "deleteMany"
  | "restore"
  | "purge";

/** A message without its place. A function if it depends on the method that was called. */
export type MessageText = string | ((operation: Operation | undefined) => string);

/** The texts that depend on the method. It becomes known only after the error was thrown. */
const textsByOperation = new WeakMap<OrmError, (operation: Operation) => string>();

/** The base class of the ORM's errors. Each names a model. */
export class OrmError extends KeywrightError {
  readonly model: string;
  /** The method of the repository that threw. Undefined if no such method was called. */
  readonly operation: Operation | undefined;

  constructor(
    code: OrmErrorCode,
    model: string,
    text: MessageText,
    options?: KeywrightErrorOptions,
  ) {
    super(code, placeOf(model) + (typeof text === "string" ? text : text(undefined)), options);
    this.model = model;
    this.operation = undefined;
    if (typeof text === "function") textsByOperation.set(this, text);
  }
}

/** Adds the name of the method to an error and to its message, if it has none yet. */
export function addOperation(error: unknown, operation: Operation): void {
  if (!(error instanceof OrmError) || error.operation !== undefined) return;
  (error as { operation: Operation | undefined }).operation = operation;
  const text = textsByOperation.get(error)?.(operation);
  replaceMessage(error, placeOf(error.model, operation) + (text ?? textOf(error, undefined)));
}

/** Adds the position of a row in the `data` of `createMany` to the message of an error. */
export function addPositionToMessage(error: OrmError, position: number): void {
  const { model, operation } = error;
  replaceMessage(
    error,
    `${placeOf(model, operation)}data[${position}]: ${textOf(error, operation)}`,
  );
}

/** Returns the beginning of a message: the model and the method, as far as they are known. */
function placeOf(model: string, operation?: Operation): string {
  const place = [model, operation].filter(Boolean).join(".");
  return place === "" ? "" : `${place}: `;
}

function textOf({ message, model }: OrmError, operation: Operation | undefined): string {
  return message.slice(placeOf(model, operation).length);
}

function replaceMessage(error: Error, message: string): void {
  const { message: before, stack } = error;
  error.message = message;
  // Engines write the message into the stack when the error is created, and `console.log` prints
  // it.
  if (typeof stack === "string") error.stack = stack.replace(before, () => message);
}

/** The primary key of a row. A list if the key has several parts. */
export type RowId = KvKeyPart | readonly KvKeyPart[];
