/** The optional parts of an error. */
export interface KeywrightErrorOptions {
  readonly cause?: unknown;
  /** True if the same call may succeed when it is repeated. The default is false. */
  readonly retryable?: boolean;
}

/**
 * The base class of Keywright's own errors. `code` is stable and starts with `KW_`. Subclasses hold
 * the details as fields. Messages never contain stored data.
 */
export class KeywrightError extends Error {
  /** The kind of error. It starts with `KW_` and never changes its meaning. */
  readonly code: string;
  /** True if the same call may succeed when it is repeated. */
  readonly retryable: boolean;

  constructor(code: string, message: string, options: KeywrightErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** The base class of errors for which Deno KV throws a `TypeError`: mistakes of the caller. */
export class KeywrightTypeError extends TypeError {
  /** The kind of error. It starts with `KW_` and never changes its meaning. */
  readonly code: string;
  /** Always false, because the same call fails again. */
  readonly retryable: boolean = false;

  constructor(code: string, message: string, options: Pick<KeywrightErrorOptions, "cause"> = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** True for every error that Keywright itself throws: it has a `code` that starts with `KW_`. */
export function isKeywrightError(error: unknown): error is KeywrightError | KeywrightTypeError {
  if (!(error instanceof Error)) return false;
  // Not by class, because in compat mode the errors are instances of Deno's classes.
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code.startsWith("KW_");
}
