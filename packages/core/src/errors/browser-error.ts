import { KeywrightError } from "./keywright-error.js";

/** A call needs files, sockets or processes, which browsers do not have. */
export class BrowserUnsupportedError extends KeywrightError {
  /** The function that was called. */
  readonly operation: string;
  /** What it cannot do, as a clause: `opens no folder`. */
  readonly reason: string;

  constructor(operation: string, reason: string, remedy: string) {
    super(
      "KW_BROWSER_UNSUPPORTED",
      `${operation}: in a browser, Keywright ${reason}. ${remedy}. If this program runs in Node.js, its bundler or test runner resolves packages for browsers: remove "browser" from its conditions.`,
    );
    this.operation = operation;
    this.reason = reason;
  }
}
