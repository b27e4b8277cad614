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
  | "search"
  | "explainSearch"
  | "watch"
  | "create"
  | "createMany"
  | "update"
  | "updateMany"
  | "upsert"
  | "delete"
  | "deleteMany"
  | "restore"
  | "purge"
  | "changes"
  | "history"
  | "restoreRow";

/** A message without its place. A function if it depends on the method that was called. */
export type MessageText = string | ((operation: Operation | undefined) => string);

/** The texts that depend on the method. It becomes known only after the error was thrown. */
const textsByOperation = new WeakMap<OrmError, (operation: Operation) => string>();

/** The models whose method was called, if the error is about a row of another model. */
const calledModels = new WeakMap<OrmError, string>();

/** The base class of the ORM's errors. Each names a model. */
export class OrmError extends KeywrightError {
  readonly model: string;
  /** The method of the repository that threw. Undefined if no such method was called. */
  readonly operation: Operation | undefined;
  /**
   * The place in the data of a nested write that the error is about, such as
   * `["posts", "create", 2]`. Undefined if it is about the row itself, or not about a write.
   */
  readonly path: readonly PropertyKey[] | undefined;

  constructor(
    code: OrmErrorCode,
    model: string,
    text: MessageText,
    options?: KeywrightErrorOptions,
  ) {
    super(code, placeOf(model) + (typeof text === "string" ? text : text(undefined)), options);
    this.model = model;
    this.operation = undefined;
    this.path = undefined;
    if (typeof text === "function") textsByOperation.set(this, text);
  }
}

/** Adds the name of the method to an error and to its message, if it has none yet. */
export function addOperation(error: unknown, operation: Operation): void {
  if (!(error instanceof OrmError) || error.operation !== undefined) return;
  (error as { operation: Operation | undefined }).operation = operation;
  const text = textsByOperation.get(error)?.(operation);
  replaceMessage(
    error,
    placeOf(calledModel(error), operation) + (text ?? textOf(error, undefined)),
  );
}

/**
 * Adds the place in the data of a nested write to an error and to its message.
 *
 * @param model the model of the row whose method is called.
 * @param place the place as a text, from the argument that contains the data.
 */
export function addPath(
  error: OrmError,
  model: string,
  path: readonly PropertyKey[],
  place: string,
): void {
  const text = textOf(error, error.operation);
  const textOfOperation = textsByOperation.get(error);
  (error as { path: readonly PropertyKey[] | undefined }).path = path;
  calledModels.set(error, model);
  if (textOfOperation !== undefined) {
    textsByOperation.set(error, (operation) => `${place}: ${textOfOperation(operation)}`);
  }
  replaceMessage(error, `${placeOf(model, error.operation)}${place}: ${text}`);
}

function calledModel(error: OrmError): string {
  return calledModels.get(error) ?? error.model;
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

function textOf(error: OrmError, operation: Operation | undefined): string {
  return error.message.slice(placeOf(calledModel(error), operation).length);
}

/** Replaces the message of an error, and its text in the stack. */
export function replaceMessage(error: Error, message: string): void {
  const { message: before, stack } = error;
  error.message = message;
  // Engines write the message into the stack when the error is created, and `console.log` prints
  // it.
  if (typeof stack === "string") error.stack = stack.replace(before, () => message);
}

/** The primary key of a row. A list if the key has several parts. */
export type RowId = KvKeyPart | readonly KvKeyPart[];
