import type { Operation } from "../../errors/orm-error.js";
import { isPromise } from "../../model/keys/is-promise.js";
import { outsideTransactions } from "../transaction/transaction-scope.js";
import type { DatabaseSettings } from "./database-settings.js";
import type { ReadMeter } from "./read-meter.js";

/** The call is complete. A callback that only observes it must not make it fail. */
function reportThrown(thrown: unknown): void {
  console.error("onQuery threw:", thrown);
}

/** Measures a call and reports it to `onQuery`. Made only if there is an `onQuery`. */
export class CallReport {
  readonly #model: string;
  readonly #operation: Operation;
  readonly #onQuery: NonNullable<DatabaseSettings["onQuery"]>;
  readonly #startedAt: number = Date.now();
  readonly #start: number = performance.now();
  /** The value that the call threw. */
  error: unknown;

  constructor(
    model: string,
    operation: Operation,
    onQuery: NonNullable<DatabaseSettings["onQuery"]>,
  ) {
    this.#model = model;
    this.#operation = operation;
    this.#onQuery = onQuery;
  }

  /**
   * Reports what the call has read and, if it failed, its error.
   *
   * @param meter undefined if the call was refused before it could read.
   */
  end(meter: ReadMeter | undefined): void {
    const { index = undefined, reads = 0 } = meter ?? {};
    try {
      // What it does is no part of a transaction that makes the call.
      const answer: unknown = outsideTransactions(() =>
        this.#onQuery({
          operation: this.#operation,
          model: this.#model,
          index,
          reads,
          milliseconds: performance.now() - this.#start,
          startedAt: this.#startedAt,
          error: this.error,
        }),
      );
      if (isPromise(answer)) answer.then(undefined, reportThrown);
    } catch (thrown) {
      reportThrown(thrown);
    }
  }
}
