import { addOperation, type Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { SnapshotReadOnlyError, TransactionBypassedError } from "../errors/transaction-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { includedModels } from "../read/include/included-models.js";
import type { AnyQuery } from "../state/context/any-query.js";
import { CallReport } from "../state/context/call-report.js";
import { ReadMeter } from "../state/context/read-meter.js";
import { type ReadView, takeReadView, withReadView } from "../state/context/read-view.js";
import type { TableContext } from "../state/context/table-context.js";
import { isWithinTransaction } from "../state/transaction/transaction-scope.js";
import { withDeletedRows } from "../write/deleted/purging-context.js";
import {
  allowedOptions,
  type CallKind,
  type CallOptions,
  type RepositoryMethod,
  type RowShape,
} from "./call-options.js";
import { callThrough } from "./middleware.js";
import { parseOptions } from "./parse-options.js";

/** How a call is made. */
interface Making {
  readonly isWrite?: boolean;
  /** True if the call has passed through the middleware. */
  readonly isWithin?: boolean;
  /** Replaces the `maxReads` of the call and of the database. */
  readonly maxReads?: number | undefined;
}

/** Makes the result of a call from what it has read. */
type ShapeFound<Found, Result> = (
  view: ReadView,
  found: Found,
  options: CallOptions,
  meter: ReadMeter,
) => Result | Promise<Result>;

const noModels: readonly CompiledModel[] = [];

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
   * Runs a call that only reads, through one view. Counts its reads, adds the name of the method to
   * its errors, and reports it to `onQuery` when it ends.
   *
   * @param shape makes the result from what was read.
   * @throws {InvalidArgumentError} if the method does not have an option of the call.
   */
  read<Found, Result = Found>(
    operation: Operation,
    argument: unknown,
    read: (view: ReadView, options: CallOptions, meter: ReadMeter) => Promise<Found>,
    shape: ShapeFound<Found, Result> = (_, found) => found as never,
  ): Promise<Result> {
    return this.#make(operation, argument, (options, meter) => {
      const context = options.withDeleted ? withDeletedRows(this.context) : this.context;
      const { include, related } = options;
      const models =
        include === undefined && related === undefined
          ? noModels
          : [...includedModels(context, include), ...(related?.models ?? [])];
      const begin = (view: ReadView) => {
        meter.reads = 0;
        return read(view, options, meter);
      };
      const finish = (view: ReadView, found: Found) => shape(view, found, options, meter);
      const isOfOneRow =
        operation === "findUnique" && include === undefined && related === undefined;
      return withReadView(context, models, begin, finish, isOfOneRow);
    });
  }

  /**
   * Like {@link read}, for a call that writes. Its commit checks the catalog.
   *
   * @param maxReads replaces the `maxReads` of the call and of the database.
   * @throws {TransactionBypassedError} if the function of a transaction calls it on the database.
   * @throws {SnapshotReadOnlyError} on the view of a snapshot.
   */
  write<T>(
    operation: Operation,
    argument: unknown,
    write: (options: CallOptions, meter: ReadMeter) => Promise<T>,
    maxReads?: number,
  ): Promise<T> {
    const { transaction } = this.context;
    const making = { isWrite: true, maxReads };
    return transaction === undefined
      ? this.#make(operation, argument, write, making)
      : transaction.trackWrite(() => this.#make(operation, argument, write, making));
  }

  async #make<T>(
    operation: Operation,
    argument: unknown,
    run: (options: CallOptions, meter: ReadMeter) => Promise<T>,
    { isWrite = false, isWithin = false, maxReads }: Making = {},
  ): Promise<T> {
    const { context, shape } = this;
    const { kv, model, settings, transaction, snapshot } = context;
    const { middleware, onQuery } = settings;
    let args = argument;
    if (!isWithin) {
      if (shape !== undefined) args = this.#shaped(operation, args);
      if (middleware !== undefined) {
        const call = { operation, args, result: "value" } as const;
        const making = { isWrite, isWithin: true, maxReads };
        return await callThrough(context, call, (passed) =>
          this.#make(operation, passed, run, making),
        );
      }
    }
    const report = onQuery && new CallReport(model.name, operation, onQuery);
    let meter: ReadMeter | undefined;
    try {
      if (isWrite && snapshot !== undefined) throw new SnapshotReadOnlyError(model.name);
      const options = parseOptions(context, operation, args, this.kind);
      meter = meterOf(context, options, maxReads);
      if (isWrite && transaction === undefined && isWithinTransaction(kv)) {
        throw new TransactionBypassedError(model.name);
      }
      return await run(options, meter);
    } catch (error) {
      addOperation(error, operation);
      if (report !== undefined) report.error = error;
      throw error;
    } finally {
      report?.end(meter);
    }
  }

  /**
   * Like {@link read}, for a call that returns its results one by one. The call and its view end
   * when the loop over the results ends, early or not.
   */
  async *stream<T>(
    operation: Operation,
    argument: unknown,
    read: (view: ReadView, options: CallOptions, meter: ReadMeter) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const args = this.#shaped(operation, argument);
    if (this.context.settings.middleware === undefined) {
      yield* this.#stream(operation, args, read);
      return;
    }
    const call = { operation, args, result: "rows" } as const;
    const rows = await callThrough<AsyncIterable<T>>(this.context, call, async (args) =>
      this.#stream(operation, args, read),
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
    read: (view: ReadView, options: CallOptions, meter: ReadMeter) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const { context } = this;
    const { onQuery } = context.settings;
    const report = onQuery && new CallReport(context.model.name, operation, onQuery);
    let meter: ReadMeter | undefined;
    let view: ReadView | undefined;
    try {
      const options = parseOptions(context, operation, args, this.kind);
      meter = meterOf(context, options);
      const table = options.withDeleted ? withDeletedRows(context) : context;
      view = await takeReadView(table, options);
      const { signal } = options;
      const { snapshot } = context;
      if (signal === undefined && snapshot === undefined) yield* read(view, options, meter);
      else {
        for await (const result of read(view, options, meter)) {
          // Several results may have been read together.
          signal?.throwIfAborted();
          snapshot?.assertOpen();
          yield result;
        }
      }
    } catch (error) {
      addOperation(error, operation);
      if (report !== undefined) report.error = error;
      throw error;
    } finally {
      view?.end();
      report?.end(meter);
    }
  }

  /**
   * Like {@link stream}, for a call that follows the log, and so reads no state of the database.
   */
  async *follow<T>(
    operation: Operation,
    argument: unknown,
    read: (context: TableContext, options: CallOptions) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const context = withDeletedRows(this.context);
    const begin = (args: unknown) =>
      read(context, parseOptions(context, operation, args, this.kind));
    try {
      const args = this.#shaped(operation, argument);
      const call = { operation, args, result: "rows" } as const;
      const through = callThrough<AsyncIterable<T>>(context, call, async (passed) => begin(passed));
      yield* await through;
    } catch (error) {
      addOperation(error, operation);
      throw error;
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
    const { model, settings, snapshot } = context;
    const { onQuery } = settings;
    const report = onQuery && new CallReport(model.name, "watch", onQuery);
    try {
      if (snapshot !== undefined) throw new SnapshotReadOnlyError(model.name);
      const args = this.#shaped(method, argument);
      const call = { operation: "watch", args, result: "report" } as const;
      return watch(parseOptions(context, method, args, this.kind), (make) =>
        callThrough(context, call, make),
      );
    } catch (error) {
      addOperation(error, "watch");
      if (report !== undefined) {
        report.error = error;
        report.end(undefined);
      }
      throw error;
    }
  }

  /**
   * Adds the options that all calls have to those of a call. Each call gets the conditions on
   * related rows, which it cannot replace, and refuses them if it does not take them.
   */
  #shaped(method: RepositoryMethod, argument: unknown): unknown {
    const { shape } = this;
    if (shape === undefined) return argument;
    const { whereRelated } = shape;
    const conditions = whereRelated && { whereRelated };
    const shared = allowedOptions[method].has("select") ? shape : conditions;
    return shared === undefined ? argument : { ...shared, ...(argument as object), ...conditions };
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
