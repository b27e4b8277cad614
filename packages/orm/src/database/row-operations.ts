import { nameOperation, type Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { RowNotFoundError, VersionConflictError } from "../errors/row-errors.js";
import { watchRow } from "../live/watch-row.js";
import { watchRows } from "../live/watch-rows.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { AnyQuery, FoundRow } from "../query/any-query.js";
import { countRows, rowExists } from "../query/count-rows.js";
import { explainQuery, type QueryExplanation } from "../query/explain-query.js";
import {
  findFirstRow,
  findOne,
  findPage,
  scanPage,
  scanRows,
  streamRows,
} from "../query/find-rows.js";
import { ReadMeter } from "../query/read-meter.js";
import { selectFields } from "../query/select-fields.js";
import type { TableContext } from "../query/table-context.js";
import { includedRelations } from "../relations/include-query.js";
import { loadRelations } from "../relations/load-relations.js";
import { deleteRows, updateRows } from "../write/change-rows.js";
import { createRows } from "../write/create-rows.js";
import type { RowResult } from "../write/row-result.js";
import { createRow, deleteRow, updateRow, upsertRow } from "../write/row-writer.js";
import { assertSelect, optionsOf } from "./call-options.js";
import { RowQuery } from "./row-query.js";

const maxReadAttempts = 5;
const unlimited = Number.POSITIVE_INFINITY;

/** The argument of a write, whatever its model. */
export interface AnyWrite extends Pick<AnyQuery, "select" | "include" | "withVersionstamp"> {
  readonly where?: AnyRow;
  readonly data?: unknown;
  readonly create?: unknown;
  readonly update?: unknown;
  readonly expireIn?: number;
  readonly ifVersion?: string;
  readonly atomic?: boolean;
}

/** A result as the caller asked for it: fields selected, relations loaded, with its versionstamp or without. */
type Shaped = unknown;

/**
 * What can be done with the rows of one model: the methods of a repository, whose types `Repository` gives. Each call
 * counts what it reads, says in its errors which method it was, and reports itself when it ends.
 */
export class RowOperations {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    this.#context = context;
  }

  findUnique(query: AnyQuery): Promise<Shaped> {
    return this.#read("findUnique", query, async (meter) => {
      const found = await this.#findToRead(query, meter);
      return found === undefined ? null : this.#shape(found, query, meter);
    });
  }

  findUniqueOrThrow(query: AnyQuery): Promise<Shaped> {
    return this.#read("findUniqueOrThrow", query, async (meter) => {
      const found = await this.#findToRead(query, meter);
      if (found === undefined) throw new RowNotFoundError(this.#context.model.name, query.where);
      return this.#shape(found, query, meter);
    });
  }

  findFirst(query: AnyQuery): Promise<Shaped> {
    return this.#read(
      "findFirst",
      query,
      async (meter) => (await this.#first(query, meter)) ?? null,
    );
  }

  findFirstOrThrow(query: AnyQuery): Promise<Shaped> {
    return this.#read("findFirstOrThrow", query, async (meter) => {
      const first = await this.#first(query, meter);
      if (first === undefined) throw new RowNotFoundError(this.#context.model.name, query.where);
      return first;
    });
  }

  findMany(query: AnyQuery): RowQuery<Shaped> {
    return this.#query("findMany", query, findPage, streamRows);
  }

  scan(query: AnyQuery = {}): RowQuery<Shaped> {
    return this.#query("scan", query, scanPage, scanRows);
  }

  count(query: AnyQuery = {}): Promise<number> {
    return this.#run("count", query, (meter) => countRows(this.#context, query, meter));
  }

  exists(query: AnyQuery = {}): Promise<boolean> {
    return this.#run("exists", query, (meter) => rowExists(this.#context, query, meter));
  }

  explain(query: AnyQuery): Promise<QueryExplanation> {
    return this.#run("explain", query, async () => explainQuery(this.#context, query));
  }

  create(write: AnyWrite): Promise<Shaped> {
    return this.#write("create", write, async (meter) => {
      const created = await createRow(this.#context, write.data, write, meter);
      return this.#shape(created, write, meter);
    });
  }

  createMany(write: AnyWrite): Promise<Shaped> {
    return this.#run("createMany", write, async (meter) => {
      const data = this.#list(write.data);
      return await this.#results(await createRows(this.#context, data, write, meter), write, meter);
    });
  }

  update(write: AnyWrite): Promise<Shaped> {
    return this.#write("update", write, async (meter) => {
      const { where } = write;
      const data = this.#object(write.data, "data");
      const updated = await updateRow(
        this.#context,
        () => this.#find(write, meter),
        where,
        data,
        write,
        meter,
      );
      return this.#shape(updated, write, meter);
    });
  }

  updateMany(write: AnyWrite & AnyQuery): Promise<Shaped> {
    return this.#run("updateMany", write, async (meter) => {
      const data = this.#object(write.data, "data");
      const results = await updateRows(this.#context, write, data, write, meter);
      return await this.#results(results, write, meter);
    });
  }

  upsert(write: AnyWrite): Promise<Shaped> {
    return this.#write("upsert", write, async (meter) => {
      const update = this.#object(write.update, "update");
      const find = () => this.#find(write, meter);
      const row = await upsertRow(this.#context, find, write.create, update, write, meter);
      return this.#shape(row, write, meter);
    });
  }

  delete(write: AnyWrite): Promise<Shaped> {
    return this.#write("delete", write, async (meter) => {
      let shaped: Shaped;
      const find = async () => {
        const found = await this.#find(write, meter);
        // What it is related to may go with it: that is read before.
        if (found !== undefined && write.include) shaped = await this.#shape(found, write, meter);
        return found;
      };
      const deleted = await deleteRow(this.#context, find, write.where, write, meter);
      return write.include ? shaped : this.#shape(deleted, write, meter);
    });
  }

  deleteMany(write: AnyWrite & AnyQuery): Promise<Shaped> {
    return this.#run("deleteMany", write, async (meter) => {
      const results = await deleteRows(this.#context, write, write, meter);
      return await this.#results(results, write, meter);
    });
  }

  watch(query: AnyQuery): ReadableStream<Shaped> {
    return this.#live(query, () =>
      watchRow(this.#context, this.#where(query), query, async (found, meter) =>
        found === null ? null : this.#shape(found, query, meter),
      ),
    );
  }

  watchMany(query: AnyQuery): ReadableStream<readonly Shaped[]> {
    return this.#live(query, () =>
      watchRows(this.#context, query, (rows, meter) => this.#shapeAll(rows, query, meter)),
    );
  }

  #live<T>(query: AnyQuery, watch: () => ReadableStream<T>): ReadableStream<T> {
    try {
      this.#options("watch", query);
      return watch();
    } catch (error) {
      nameOperation(error, "watch");
      throw error;
    }
  }

  #query(
    operation: Operation,
    query: AnyQuery,
    page: typeof findPage,
    stream: typeof streamRows,
  ): RowQuery<Shaped> {
    return new RowQuery<Shaped>(
      () =>
        this.#read(operation, query, async (meter) => {
          const { items, cursor } = await page(this.#context, query, meter);
          return { items: await this.#shapeAll(items, query, meter), cursor };
        }),
      () => this.#stream(operation, query, stream),
    );
  }

  /** Rows one by one, shaped in groups so that their relations are read together. */
  async *#stream(
    operation: Operation,
    query: AnyQuery,
    stream: typeof streamRows,
  ): AsyncGenerator<Shaped> {
    const startedAt = Date.now();
    const start = performance.now();
    let meter: ReadMeter | undefined;
    let failure: unknown;
    try {
      meter = this.#meter(this.#options(operation, query));
      const groupSize = query.include === undefined ? 1 : 100;
      let group: FoundRow[] = [];
      for await (const found of stream(this.#context, query, meter)) {
        group.push(found);
        if (group.length < groupSize) continue;
        yield* await this.#shapeAll(group, query, meter);
        group = [];
      }
      yield* await this.#shapeAll(group, query, meter);
    } catch (error) {
      nameOperation(error, operation);
      failure = error;
      throw error;
    } finally {
      if (meter !== undefined) this.#report(operation, meter, startedAt, start, failure);
    }
  }

  /** A read, which is made again where rows that it includes were deleted between it and them. */
  #read<T>(
    operation: Operation,
    query: AnyQuery,
    read: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    // Looked at with care: it may be missing, which `#run` says.
    if (query?.include === undefined) return this.#run(operation, query, read);
    return this.#run(operation, query, async (meter) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await read(meter);
        } catch (error) {
          if (!(error instanceof VersionConflictError) || attempt === maxReadAttempts) throw error;
        }
      }
    });
  }

  /** A write of one row: it reads as often as it has to, for `maxReads` is about queries. */
  #write<T>(
    operation: Operation,
    argument: unknown,
    write: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    return this.#run(operation, argument, write, unlimited);
  }

  async #run<T>(
    operation: Operation,
    argument: unknown,
    run: (meter: ReadMeter) => Promise<T>,
    maxReads?: number,
  ): Promise<T> {
    const { onQuery } = this.#context.settings;
    const startedAt = onQuery === undefined ? 0 : Date.now();
    const start = onQuery === undefined ? 0 : performance.now();
    let meter: ReadMeter | undefined;
    let failure: unknown;
    try {
      meter = this.#meter(this.#options(operation, argument), maxReads);
      return await run(meter);
    } catch (error) {
      nameOperation(error, operation);
      failure = error;
      throw error;
    } finally {
      if (onQuery !== undefined && meter !== undefined) {
        this.#report(operation, meter, startedAt, start, failure);
      }
    }
  }

  #report(
    operation: Operation,
    { index, reads }: ReadMeter,
    startedAt: number,
    start: number,
    error: unknown,
  ): void {
    const milliseconds = performance.now() - start;
    const { model, settings } = this.#context;
    const event = { operation, model: model.name, index, reads, milliseconds, startedAt, error };
    try {
      settings.onQuery?.(event);
    } catch (thrown) {
      // What the call did is done: who listens to it does not make it fail.
      console.error("onQuery threw:", thrown);
    }
  }

  #meter(query: AnyQuery, maxReads = query.maxReads ?? this.#context.settings.maxReads): ReadMeter {
    return new ReadMeter(this.#context.model.name, maxReads);
  }

  /** The row to write, all of it. */
  #find(query: AnyQuery, meter: ReadMeter): Promise<FoundRow | undefined> {
    return findOne(this.#context, this.#where(query), meter, query);
  }

  /** The row to return, of which an index entry may hold enough. */
  #findToRead(query: AnyQuery, meter: ReadMeter): Promise<FoundRow | undefined> {
    const { select, include, withVersionstamp } = query;
    const asked = { select, include, withVersionstamp, forWrite: false };
    return findOne(this.#context, this.#where(query), meter, asked);
  }

  async #first(query: AnyQuery, meter: ReadMeter): Promise<Shaped> {
    const found = await findFirstRow(this.#context, query, meter);
    return found === undefined ? undefined : this.#shape(found, query, meter);
  }

  /** The row itself where nothing else is asked for, else a promise. */
  #shape(found: FoundRow, query: AnyQuery, meter: ReadMeter): Shaped | Promise<Shaped> {
    const { include, select, withVersionstamp } = query;
    if (include === undefined && select === undefined && !withVersionstamp) return found.row;
    return this.#shapeAll([found], query, meter).then(([shaped]) => shaped);
  }

  async #shapeAll(
    found: readonly FoundRow[],
    query: AnyQuery,
    meter: ReadMeter,
  ): Promise<Shaped[]> {
    const { include, select, withVersionstamp } = query;
    const rows = found.map(({ row }) => row);
    const selected = select === undefined ? rows : rows.map((row) => selectFields(row, select));
    const loaded =
      include === undefined
        ? selected
        : await loadRelations(this.#context, rows, selected, include, meter);
    if (!withVersionstamp) return [...loaded];
    return found.map(({ versionstamp }, i) => ({ row: loaded[i], versionstamp }));
  }

  async #results(
    results: readonly RowResult[],
    query: AnyQuery,
    meter: ReadMeter,
  ): Promise<Shaped> {
    const found = results.flatMap((result) => (result.ok ? [result.row] : []));
    // They are written: what is read with them is read whatever it costs.
    const own = this.#meter(query, unlimited);
    const shaped = await this.#shapeAll(found, query, own);
    meter.reads += own.reads;
    let next = 0;
    const all = results.map((result) => (result.ok ? { ...result, row: shaped[next++] } : result));
    return { count: found.length, results: all };
  }

  /**
   * The argument of a call, looked at: a misspelled option would make it another call.
   *
   * @throws {InvalidArgumentError} for what is no object, and for an option that the method does not have.
   */
  #options(operation: Operation, argument: unknown): AnyQuery {
    const { model } = this.#context;
    const options = this.#object(argument, "argument");
    const known = optionsOf[operation];
    for (const name in options) {
      if (known.has(name)) continue;
      const reason = `${operation} has no such option: it has ${[...known].join(", ")}`;
      throw new InvalidArgumentError(model.name, name, reason);
    }
    const { select, include } = options as AnyQuery;
    if (select !== undefined) assertSelect(model, select);
    // Before a write is made, which would stand whatever is wrong with what it is to return.
    if (include !== undefined) includedRelations(this.#context, include);
    return options;
  }

  #where(query: AnyQuery): AnyRow {
    return this.#object(query.where, "where");
  }

  #object(value: unknown, name: string): AnyRow {
    if (typeof value === "object" && value !== null) return value as AnyRow;
    throw new InvalidArgumentError(this.#context.model.name, name, "it has to be an object");
  }

  #list(value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    throw new InvalidArgumentError(this.#context.model.name, "data", "it has to be an array");
  }
}
