import { KeywrightError, type KeywrightErrorOptions } from "@keywright/core";
import type { CodegenErrorCode } from "./codes.js";

/** The base class of this package's errors. The message says what is wrong and what to do. */
export class CodegenError extends KeywrightError {
  /** What to do: the end of the message. Undefined if the message says it in another place. */
  declare readonly remedy: string | undefined;

  constructor(
    code: CodegenErrorCode,
    message: string,
    { remedy, ...options }: KeywrightErrorOptions & { readonly remedy?: string | undefined } = {},
  ) {
    super(code, remedy === undefined ? message : `${message}; ${remedy}`, options);
    // Not enumerable, because the message contains it.
    Object.defineProperty(this, "remedy", { value: remedy });
  }
}

/**
 * A class of errors. The errors have `Fields`, which are what the constructor takes unless said.
 */
export type ErrorClass<Given extends object, Fields extends object = Given> = new (
  given: Readonly<Given>,
  cause?: unknown,
) => CodegenError & Readonly<Fields>;

interface Description<Fields> {
  /** What is wrong, with what. */
  readonly text: string;
  /** What to do. Without it, `text` says so. */
  readonly remedy?: string;
  /** The fields of the error, if they are not what the constructor takes. */
  readonly fields?: Fields;
}

/**
 * Returns the class of the errors with a code, for example `ConfigMissingError` for
 * `KW_CONFIG_MISSING`.
 */
export function errorClass<Given extends object, Fields extends object>(
  code: CodegenErrorCode,
  describe: (given: Readonly<Given>, cause: unknown) => Description<Fields>,
): ErrorClass<Given, Fields> {
  class DescribedError extends CodegenError {
    constructor(given: Readonly<Given>, cause?: unknown) {
      const { text, remedy, fields = given } = describe(given, cause);
      super(code, text, { remedy, cause });
      Object.assign(this, fields);
    }
  }
  const words = code.toLowerCase().split("_").slice(1);
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
  Object.defineProperty(DescribedError, "name", { value: `${name}Error` });
  return DescribedError as never;
}
