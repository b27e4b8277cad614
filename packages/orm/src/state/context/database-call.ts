import type { Operation } from "../../errors/orm-error.js";

/** A call of a repository, for middleware. */
export interface DatabaseCall {
  /** The `name` of the model. */
  readonly model: string;
  /** The name of the method. `watchMany` has the operation `watch`. */
  readonly operation: Operation;
  /** The argument of the method. Changes of it have no effect that can be relied on. */
  readonly args: unknown;
  /** True if the method was called on the `tx` of a transaction, or the `view` of a snapshot. */
  readonly isInTransaction: boolean;
  /**
   * What the result is: `"value"`, what the method returns; `"rows"`, the rows of a query that is
   * iterated, as an async iterable; `"report"`, one report of a live query.
   */
  readonly result: "value" | "rows" | "report";
}

/**
 * A function around each call of a repository. What it returns is the result of the call, so it
 * usually returns `await next()`. `next` makes the call, or calls the next middleware. It can be
 * called again to repeat the call. If it is not called, nothing is read or written.
 */
export type Middleware = (call: DatabaseCall, next: () => Promise<unknown>) => Promise<unknown>;
