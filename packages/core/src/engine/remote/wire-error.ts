import * as coreErrors from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";

/** An error as plain data: the name of its class, its message, its fields, and its cause. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause?: string;
}

const classes = coreErrors as unknown as Readonly<
  Record<string, { prototype: object } | undefined>
>;

export function wireError(error: unknown): WireError {
  const cause = error instanceof Error ? error.cause : undefined;
  const text = cause instanceof Error ? cause.message : undefined;
  if (!isKeywrightError(error)) {
    return {
      name: "Error",
      message: error instanceof Error ? error.message : String(error),
      fields: {},
    };
  }
  const { name, message } = error;
  const fields = Object.entries(error).filter(
    ([field, value]) => field !== "name" && isPlain(value),
  );
  return {
    name,
    message,
    fields: Object.fromEntries(fields),
    ...(text !== undefined && { cause: text }),
  };
}

/** Returns an error of the same class, with the stack of this process. */
export function errorOf({ name, message, fields, cause }: WireError): Error {
  const { prototype } = classes[name] ?? Error;
  const known = prototype instanceof Error ? prototype : Error.prototype;
  const error = Object.create(known) as Error;
  const hidden = { enumerable: false, configurable: true, writable: true };
  Object.defineProperty(error, "message", { ...hidden, value: message });
  if (cause !== undefined)
    Object.defineProperty(error, "cause", { ...hidden, value: new Error(cause) });
  Error.captureStackTrace?.(error, errorOf);
  return Object.assign(error, { name }, fields);
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null || value instanceof Uint8Array;
}
