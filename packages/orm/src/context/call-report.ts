import type { Operation } from "../errors/orm-error.js";
import type { ReadMeter } from "./read-meter.js";
import type { TableContext } from "./table-context.js";

export class CallReport {
  readonly #model: string;
  readonly #operation: Operation;
  readonly #onQuery: TableContext["settings"]["onQuery"];
  readonly #startedAt: number = 0;
  readonly #start: number = 0;

  constructor({ model, settings }: TableContext, operation: Operation) {
    this.#model = model.name;
    this.#operation = operation;
    this.#onQuery = settings.onQuery;
    if (this.#onQuery === undefined) return;
    this.#startedAt = Date.now();
    this.#start = performance.now();
  }

  end({ index, reads }: ReadMeter, error: unknown): void {
    if (this.#onQuery === undefined) return;
    try {
      this.#onQuery({
        operation: this.#operation,
        model: this.#model,
        index,
        reads,
        milliseconds: performance.now() - this.#start,
        startedAt: this.#startedAt,
        error,
      });
    } catch (thrown) {
      // The call is complete. A callback that only observes it must not make it fail.
      console.error("onQuery threw:", thrown);
    }
  }
}
