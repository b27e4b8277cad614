import { OrmError } from "./orm-error.js";

/**
 * The function of a computed field threw, or returned a value that no row can have. If the call is
 * a write outside of a transaction, it is committed.
 */
export class ComputedFieldError extends OrmError {
  readonly field: string;

  /** @param reason what the function did. */
  constructor(model: string, field: string, reason: string, cause?: unknown) {
    const text = `the computed field ${field} has no value: its function ${reason}; correct the function`;
    super("KW_COMPUTED_FAILED", model, text, { cause });
    this.field = field;
  }
}
