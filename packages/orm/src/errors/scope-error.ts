import { OrmError } from "./orm-error.js";

/**
 * A call would reach rows outside of its scope, or a model cannot be scoped by these fields.
 * Nothing was written.
 */
export class ScopeError extends OrmError {
  /** The place of the problem: `data.tenantId`, `where.tenantId`, `indexes.byEmail`. */
  readonly at: string;
  readonly reason: string;

  constructor(model: string, at: string, reason: string) {
    super("KW_SCOPE", model, `${at === "" ? "" : `${at}: `}${reason}`);
    this.at = at;
    this.reason = reason;
  }
}
