import { addOperation, type Operation } from "../errors/orm-error.js";
import { isPromise } from "../indexes/is-promise.js";
import { outsideTransactions } from "../transaction/transaction-scope.js";
import type { ReadMeter } from "./read-meter.js";
import type { TableContext } from "./table-context.js";

/** The call is complete. A callback that only observes it must not make it fail. */
function reportThrown(thrown: unknown): void {
  console.error("onQuery threw:", thrown);
}

export class CallReport {
  readonly #model: string;
  readonly #operation: Operation;
  readonly #onQuery: TableContext["settings"]["onQuery"];
  readonly #startedAt: number = 0;
  readonly #start: number = 0;
  #error: unknown;

  constructor({ model, settings }: TableContext, operation: Operation) {
    this.#model = model.name;
    this.#operation = operation;
    this.#onQuery = settings.onQuery;
    if (this.#onQuery === undefined) return;
    this.#startedAt = Date.now();
    this.#start = performance.now();
  }

  /** Adds the name of the method to an error, and throws the error. */
  fail(error: unknown): never {
    addOperation(error, this.#operation);
    this.#error = error;
    throw error;
  }

  /**
   * Reports what the call has read and, if it failed, its error.
   *
   * @param meter undefined if the call was refused before it could read.
   */
  end(meter: ReadMeter | undefined): void {
    if (this.#onQuery === undefined) return;
    const { index = undefined, reads = 0 } = meter ?? {};
    const onQuery = this.#onQuery;
    try {
      // What it does is no part of a transaction that makes the call.
      const answer: unknown = outsideTransactions(() =>
        onQuery({
          operation: this.#operation,
          model: this.#model,
          index,
          reads,
          milliseconds: performance.now() - this.#start,
          startedAt: this.#startedAt,
          error: this.#error,
        }),
      );
      if (isPromise(answer)) answer.then(undefined, reportThrown);
    } catch (thrown) {
      reportThrown(thrown);
    }
  }
}
