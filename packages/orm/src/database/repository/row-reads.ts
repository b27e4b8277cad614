import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { addOperation, type Operation } from "../../errors/orm-error.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { watchRow } from "../../live/watch-row.js";
import { watchRows } from "../../live/watch-rows.js";
import { countRows, rowExists } from "../../query/read/count-rows.js";
import { explainQuery, type QueryExplanation } from "../../query/read/explain-query.js";
import {
  findFirstRow,
  findOne,
  findPage,
  scanPage,
  scanRows,
  streamRows,
} from "../../query/read/find-rows.js";
import { retryTornRead } from "../../relations/load/retry-torn-read.js";
import type { RepositoryMethod } from "../call-options.js";
import { checkedOptions, runCall, streamCall, whereOf } from "../run-call.js";
import { copyQuery } from "./copy-query.js";
import { RowQuery } from "./row-query.js";
import { type ShapedRow, shapeRow, shapeRows, shapeStreamed } from "./shape-rows.js";

/** The number of rows of a stream whose relations are loaded together. */
const groupSize = 100;

/** The methods of a repository that only read, for any model. */
export class RowReads {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    this.#context = context;
  }

  findUnique(input: AnyQuery): Promise<ShapedRow> {
    const query = copyQuery(input);
    return this.#read("findUnique", query, async (meter) => {
      const found = await this.#find(query, meter);
      return found === undefined ? null : shapeRow(this.#context, found, query, meter);
    });
  }

  findUniqueOrThrow(input: AnyQuery): Promise<ShapedRow> {
    const query = copyQuery(input);
    return this.#read("findUniqueOrThrow", query, async (meter) => {
      const found = await this.#find(query, meter);
      if (found === undefined) throw new RowNotFoundError(this.#context.model.name, query.where);
      return shapeRow(this.#context, found, query, meter);
    });
  }

  findFirst(input: AnyQuery): Promise<ShapedRow> {
    const query = copyQuery(input);
    return this.#read(
      "findFirst",
      query,
      async (meter) => (await this.#findFirst(query, meter)) ?? null,
    );
  }

  findFirstOrThrow(input: AnyQuery): Promise<ShapedRow> {
    const query = copyQuery(input);
    return this.#read("findFirstOrThrow", query, async (meter) => {
      const first = await this.#findFirst(query, meter);
      if (first === undefined) throw new RowNotFoundError(this.#context.model.name, query.where);
      return first;
    });
  }

  findMany(query: AnyQuery): RowQuery<ShapedRow> {
    return this.#createQuery("findMany", copyQuery(query), findPage, streamRows);
  }

  scan(query: AnyQuery = {}): RowQuery<ShapedRow> {
    return this.#createQuery("scan", copyQuery(query), scanPage, scanRows);
  }

  count(input: AnyQuery = {}): Promise<number> {
    const query = copyQuery(input);
    const context = this.#context;
    return runCall(context, "count", query, (meter) => countRows(context, query, meter));
  }

  exists(input: AnyQuery = {}): Promise<boolean> {
    const query = copyQuery(input);
    const context = this.#context;
    return runCall(context, "exists", query, (meter) => rowExists(context, query, meter));
  }

  explain(input: AnyQuery): Promise<QueryExplanation> {
    const query = copyQuery(input);
    const context = this.#context;
    return runCall(context, "explain", query, async () => explainQuery(context, query));
  }

  watch(input: AnyQuery): ReadableStream<ShapedRow> {
    const query = copyQuery(input);
    const context = this.#context;
    return this.#watch("watch", query, () =>
      watchRow(context, whereOf(context, query), query, async (found, meter) =>
        found === null ? null : shapeRow(context, found, query, meter),
      ),
    );
  }

  watchMany(input: AnyQuery): ReadableStream<readonly ShapedRow[]> {
    const query = copyQuery(input);
    const context = this.#context;
    return this.#watch("watchMany", query, () =>
      watchRows(context, query, (rows, meter) => shapeRows(context, rows, query, meter)),
    );
  }

  #watch<T>(
    method: RepositoryMethod,
    query: AnyQuery,
    watch: () => ReadableStream<T>,
  ): ReadableStream<T> {
    try {
      checkedOptions(this.#context, method, query);
      return watch();
    } catch (error) {
      addOperation(error, "watch");
      throw error;
    }
  }

  #createQuery(
    operation: Operation,
    query: AnyQuery,
    page: typeof findPage,
    stream: typeof streamRows,
  ): RowQuery<ShapedRow> {
    const context = this.#context;
    return new RowQuery<ShapedRow>(
      () =>
        this.#read(operation, query, async (meter) => {
          const { items, cursor } = await page(context, query, meter);
          return { items: await shapeRows(context, items, query, meter), cursor };
        }),
      () =>
        streamCall(context, operation, query, (meter) =>
          streamShaped(context, query, stream, meter),
        ),
    );
  }

  /**
   * Runs a read. If the read includes relations, it is repeated if related rows were deleted in the
   * meantime.
   */
  #read<T>(
    operation: Operation,
    query: AnyQuery,
    read: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    // The query may be undefined here. `runCall` refuses it.
    const readConsistently =
      query?.include === undefined ? read : (meter: ReadMeter) => retryTornRead(() => read(meter));
    return runCall(this.#context, operation, query, readConsistently);
  }

  /** Finds the row to return. An index entry is enough if it holds what the query returns. */
  #find(query: AnyQuery, meter: ReadMeter): Promise<FoundRow | undefined> {
    const { select, include, withVersionstamp } = query;
    const readQuery = { select, include, withVersionstamp, forWrite: false };
    return findOne(this.#context, whereOf(this.#context, query), meter, readQuery);
  }

  async #findFirst(query: AnyQuery, meter: ReadMeter): Promise<ShapedRow> {
    const found = await findFirstRow(this.#context, query, meter);
    return found === undefined ? undefined : shapeRow(this.#context, found, query, meter);
  }
}

/**
 * Returns rows one by one. With `include`, they are shaped in groups, so that the relations of a
 * group are read together.
 */
async function* streamShaped(
  context: TableContext,
  query: AnyQuery,
  stream: typeof streamRows,
  meter: ReadMeter,
): AsyncGenerator<ShapedRow> {
  const size = query.include === undefined ? 1 : groupSize;
  let group: FoundRow[] = [];
  for await (const found of stream(context, query, meter)) {
    group.push(found);
    if (group.length < size) continue;
    yield* await shapeStreamed(context, group, query, meter);
    group = [];
  }
  yield* await shapeStreamed(context, group, query, meter);
}
