import type { AnyQuery } from "../context/any-query.js";
import { besideCatalogs } from "../context/beside-catalogs.js";
import { CallReport } from "../context/call-report.js";
import { ReadMeter } from "../context/read-meter.js";
import type { TableContext } from "../context/table-context.js";
import type { Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { TransactionBypassedError } from "../errors/transaction-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { isWithinTransaction } from "../transaction/transaction-scope.js";
import {
  allowedOptions,
  type CallKind,
  type CallOptions,
  type RepositoryMethod,
  type RowShape,
} from "./call-options.js";
import { callThrough } from "./middleware.js";
import { parseOptions } from "./parse-options.js";

/** Runs the calls of a repository's methods. */
export class Calls {
  readonly context: TableContext;
  /** How the options of the calls are written. */
  readonly kind: CallKind;
  /** The options that all calls have. Those of a call replace them. */
  readonly shape: RowShape | undefined;

  constructor(context: TableContext, kind: CallKind = "inferred", shape?: RowShape) {
    this.context = context;
    this.kind = kind;
    this.shape = shape;
  }

  /**
   * Runs a call. Counts its reads, adds the name of the method to its errors, and reports it to
   * `onQuery` when it ends.
   *
   * @throws {InvalidArgumentError} if the method does not have an option of the call.
   */
  run<T>(
    operation: Operation,
    argument: unknown,
    run: (options: CallOptions, meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    return this.#call(operation, argument, async (options, meter) => {
      const { catalog } = this.context;
      if (!catalog.isKeyKnown) await catalog.assertSameKey();
      return await run(options, meter);
    });
  }

  /**
   * Like {@link run}, for a call that only reads. If the catalog is due to be read, that is done at
   * the same time.
   *
   * @param models further models whose rows the call reads.
   */
  read<T>(
    operation: Operation,
    argument: unknown,
    read: (context: TableContext, options: CallOptions, meter: ReadMeter) => Promise<T>,
    modelsOf: (options: CallOptions) => readonly CompiledModel[] = () => [],
  ): Promise<T> {
    return this.#call(operation, argument, (options, meter) =>
      besideCatalogs(this.context, modelsOf(options), (context) => {
        meter.reads = 0;
        return read(context, options, meter);
      }),
    );
  }

  #call<T>(
    operation: Operation,
    argument: unknown,
    run: (options: CallOptions, meter: ReadMeter) => Promise<T>,
    maxReads?: number,
  ): Promise<T> {
    const { context } = this;
    const make = async (args: unknown): Promise<T> => {
      const report = new CallReport(context, operation);
      let meter: ReadMeter | undefined;
      try {
        const options = parseOptions(context, operation, args, this.kind);
        meter = meterOf(context, options, maxReads);
        return await run(options, meter);
      } catch (error) {
        return report.fail(error);
      } finally {
        report.end(meter);
      }
    };
    const args = this.#shaped(operation, argument);
    if (context.settings.middleware === undefined) return make(args);
    return callThrough(context, { operation, args, result: "value" }, make);
  }

  /**
   * Like {@link run}, for a call that writes. Its commit checks the catalog.
   *
   * @param maxReads replaces the `maxReads` of the call and of the database.
   * @throws {TransactionBypassedError} if the function of a transaction calls it on the database.
   */
  async write<T>(
    operation: Operation,
    argument: unknown,
    write: (options: CallOptions, meter: ReadMeter) => Promise<T>,
    maxReads?: number,
  ): Promise<T> {
    const { kv, model, transaction } = this.context;
    const run = async (options: CallOptions, meter: ReadMeter): Promise<T> => {
      if (transaction === undefined && isWithinTransaction(kv)) {
        throw new TransactionBypassedError(model.name);
      }
      return await write(options, meter);
    };
    const call = () => this.#call(operation, argument, run, maxReads);
    return transaction === undefined ? await call() : await transaction.trackWrite(call);
  }

  /**
   * Like {@link run}, for a call that returns its results one by one. The call ends when the loop
   * over the results ends, early or not.
   */
  async *stream<T>(
    operation: Operation,
    argument: unknown,
    run: (options: CallOptions, meter: ReadMeter) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const args = this.#shaped(operation, argument);
    if (this.context.settings.middleware === undefined) {
      yield* this.#stream(operation, args, run);
      return;
    }
    const call = { operation, args, result: "rows" } as const;
    const rows = await callThrough<AsyncIterable<T>>(this.context, call, async (args) =>
      this.#stream(operation, args, run),
    );
    if (typeof rows?.[Symbol.asyncIterator] !== "function") {
      const reason = `it must return an async iterable for ${operation} in a loop, as next() does`;
      throw new InvalidArgumentError(this.context.model.name, "middleware", reason);
    }
    yield* rows;
  }

  async *#stream<T>(
    operation: Operation,
    args: unknown,
    run: (options: CallOptions, meter: ReadMeter) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const { context } = this;
    const report = new CallReport(context, operation);
    let meter: ReadMeter | undefined;
    try {
      const options = parseOptions(context, operation, args, this.kind);
      meter = meterOf(context, options);
      await context.catalog.assertSameKey();
      const { signal } = options;
      if (signal === undefined) yield* run(options, meter);
      else {
        for await (const result of run(options, meter)) {
          // Several results may have been read together.
          signal.throwIfAborted();
          yield result;
        }
      }
    } catch (error) {
      return report.fail(error);
    } finally {
      report.end(meter);
    }
  }

  /**
   * Begins a live query. It measures and reports its reads itself. Reports only a refusal.
   *
   * @param watch calls its last argument to make each report of the query, through the middleware.
   */
  watch<T>(
    method: RepositoryMethod,
    argument: unknown,
    watch: (
      options: CallOptions,
      throughMiddleware: (make: () => Promise<T>) => Promise<T>,
    ) => ReadableStream<T>,
  ): ReadableStream<T> {
    const { context } = this;
    const report = new CallReport(context, "watch");
    try {
      const args = this.#shaped(method, argument);
      const call = { operation: "watch", args, result: "report" } as const;
      return watch(parseOptions(context, method, args, this.kind), (make) =>
        callThrough(context, call, make),
      );
    } catch (error) {
      try {
        return report.fail(error);
      } finally {
        report.end(undefined);
      }
    }
  }

  /**
   * Adds the options that all calls have to those of a call. Each call gets the conditions on
   * related rows, and refuses them if it does not take them.
   */
  #shaped(method: RepositoryMethod, argument: unknown): unknown {
    const { shape } = this;
    if (shape === undefined) return argument;
    const { whereRelated } = shape;
    if (allowedOptions[method].has("select")) return { ...shape, ...(argument as object) };
    return whereRelated === undefined ? argument : { ...(argument as object), whereRelated };
  }
}

/** Returns a meter for a call, with its signal, and its limit or else that of the database. */
export function meterOf(
  { model, settings }: TableContext,
  query: AnyQuery,
  maxReads: number = query.maxReads ?? settings.maxReads,
): ReadMeter {
  return new ReadMeter(model.name, maxReads, query.signal);
}
