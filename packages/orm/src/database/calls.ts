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
import type { CallOptions, RepositoryMethod } from "./call-options.js";
import { callThrough } from "./middleware.js";
import { parseOptions } from "./parse-options.js";

/** Runs the calls of a repository's methods. */
export class Calls {
  readonly context: TableContext;
  readonly #parse: typeof parseOptions;

  /** @param parse checks the argument of each call, and returns its options. */
  constructor(context: TableContext, parse: typeof parseOptions = parseOptions) {
    this.context = context;
    this.#parse = parse;
  }

  /** Returns the calls of a repository of the same kind for another table. */
  of(context: TableContext): Calls {
    return new Calls(context, this.#parse);
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
    if (this.context.settings.middleware === undefined) {
      return this.#make(operation, argument, run, maxReads);
    }
    const call = { operation, args: argument, result: "value" } as const;
    return callThrough(this.context, call, (args) => this.#make(operation, args, run, maxReads));
  }

  async #make<T>(
    operation: Operation,
    argument: unknown,
    run: (options: CallOptions, meter: ReadMeter) => Promise<T>,
    maxReads?: number,
  ): Promise<T> {
    const { context } = this;
    const report = new CallReport(context, operation);
    let meter: ReadMeter | undefined;
    try {
      const options = this.#parse(context, operation, argument);
      meter = meterOf(context, options, maxReads);
      return await run(options, meter);
    } catch (error) {
      return report.fail(error);
    } finally {
      report.end(meter);
    }
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
    if (this.context.settings.middleware === undefined) {
      yield* this.#stream(operation, argument, run);
      return;
    }
    const call = { operation, args: argument, result: "rows" } as const;
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
    argument: unknown,
    run: (options: CallOptions, meter: ReadMeter) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const { context } = this;
    const report = new CallReport(context, operation);
    let meter: ReadMeter | undefined;
    try {
      const options = this.#parse(context, operation, argument);
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

  /** Makes one report of a live query, through the middleware. */
  report<T>(argument: unknown, make: () => Promise<T>): Promise<T> {
    const call = { operation: "watch", args: argument, result: "report" } as const;
    return callThrough(this.context, call, make);
  }

  /** Begins a live query. It measures and reports its reads itself. Reports only a refusal. */
  watch<T>(
    method: RepositoryMethod,
    argument: unknown,
    watch: (options: CallOptions) => ReadableStream<T>,
  ): ReadableStream<T> {
    const report = new CallReport(this.context, "watch");
    try {
      return watch(this.#parse(this.context, method, argument));
    } catch (error) {
      try {
        return report.fail(error);
      } finally {
        report.end(undefined);
      }
    }
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
