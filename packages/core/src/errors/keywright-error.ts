/** What may accompany an error: its `cause`, and whether the same call may succeed when it is made again. */
export interface KeywrightErrorOptions {
  /** The error that led to this one. */
  readonly cause?: unknown;
  /** Whether the same call may succeed when it is made again; false without it. */
  readonly retryable?: boolean;
}

/**
 * The base of Keywright's own errors. `code` is stable and starts with `KW_`; the message is the same for every error
 * of that code; what varies stands in fields of the subclass.
 */
export class KeywrightError extends Error {
  /** What kind of error it is: a name that starts with `KW_` and never changes its meaning. */
  readonly code: string;
  /** True where the same call may succeed when it is made again. */
  readonly retryable: boolean;

  constructor(code: string, message: string, options: KeywrightErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** A caller's mistake where Deno KV throws a `TypeError`: the same class, with a stable `code`. */
export class KeywrightTypeError extends TypeError {
  /** What kind of error it is: a name that starts with `KW_` and never changes its meaning. */
  readonly code: string;
  /** Always false: the same call fails again. */
  readonly retryable: boolean = false;

  constructor(code: string, message: string, options: Pick<KeywrightErrorOptions, "cause"> = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** True for every error that Keywright itself throws: it has a stable `code`, which starts with `KW_`. */
export function isKeywrightError(error: unknown): error is KeywrightError | KeywrightTypeError {
  if (!(error instanceof Error)) return false;
  // In Deno's mode errors are of Deno's classes.
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code.startsWith("KW_");
}
