import { KeywrightError, KeywrightTypeError } from "@keywright/core";

/** An option of `postgresEngine` that is not valid. */
export class PostgresOptionError extends KeywrightTypeError {
  /** The name of the option, such as `prefix`. */
  readonly option: string;
  /** The rule that the option breaks. Its name and `reason` make a sentence. */
  readonly reason: string;

  constructor(option: string, reason: string) {
    super("KW_POSTGRES_OPTION_INVALID", `postgresEngine: ${option} ${reason}.`);
    this.option = option;
    this.reason = reason;
  }
}

/** The server refuses the engine, and does so again until somebody changes its settings. */
export class PostgresRefusedError extends KeywrightError {
  /** Why the server refuses, as a clause: `the password is wrong`. */
  readonly reason: string;
  /** What to do, as a sentence. */
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    const message = `The PostgreSQL server refuses: ${reason}. ${remedy}.`;
    super("KW_POSTGRES_REFUSED", message, { cause });
    this.reason = reason;
    this.remedy = remedy;
  }
}
