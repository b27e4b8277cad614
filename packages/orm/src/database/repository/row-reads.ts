import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { nameOperation, type Operation } from "../../errors/orm-error.js";
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
import { rereadTorn } from "../../relations/load/reread-torn.js";
import type { Method } from "../call-options.js";
import { checkedOptions, runCall, streamCall, whereOf } from "../run-call.js";
import { givenQuery } from "./given-query.js";
import { RowQuery } from "./row-query.js";
import { type Shaped, shapeRow, shapeRows, shapeStreamed } from "./shape-rows.js";

/** So many rows of a stream have their relations loaded together. */
const groupSize = 100;

/** How the rows of one model are read: the methods of a repository that write nothing. */
export class RowReads {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    this.#context = context;
  }

  findUnique(given: AnyQuery): Promise<Shaped> {
    const query = givenQuery(given);
    return this.#read("findUnique", query, async (meter) => {
      const found = await this.#find(query, meter);
      return found === undefined ? null : shapeRow(this.#context, found, query, meter);
    });
  }

  findUniqueOrThrow(given: AnyQuery): Promise<Shaped> {
    const query = givenQuery(given);
    return this.#read("findUniqueOrThrow", query, async (meter) => {
      const found = await this.#find(query, meter);
      if (found === undefined) throw new RowNotFoundError(this.#context.model.name, query.where);
      return shapeRow(this.#context, found, query, meter);
    });
  }

  findFirst(given: AnyQuery): Promise<Shaped> {
    const query = givenQuery(given);
    return this.#read(
      "findFirst",
      query,
      async (meter) => (await this.#first(query, meter)) ?? null,
    );
  }

  findFirstOrThrow(given: AnyQuery): Promise<Shaped> {
    const query = givenQuery(given);
    return this.#read("findFirstOrThrow", query, async (meter) => {
      const first = await this.#first(query, meter);
      if (first === undefined) throw new RowNotFoundError(this.#context.model.name, query.where);
      return first;
    });
  }

  findMany(query: AnyQuery): RowQuery<Shaped> {
    return this.#query("findMany", givenQuery(query), findPage, streamRows);
  }

  scan(query: AnyQuery = {}): RowQuery<Shaped> {
    return this.#query("scan", givenQuery(query), scanPage, scanRows);
  }

  count(given: AnyQuery = {}): Promise<number> {
    const query = givenQuery(given);
    const context = this.#context;
    return runCall(context, "count", query, (meter) => countRows(context, query, meter));
  }

  exists(given: AnyQuery = {}): Promise<boolean> {
    const query = givenQuery(given);
    const context = this.#context;
    return runCall(context, "exists", query, (meter) => rowExists(context, query, meter));
  }

  explain(given: AnyQuery): Promise<QueryExplanation> {
    const query = givenQuery(given);
    const context = this.#context;
    return runCall(context, "explain", query, async () => explainQuery(context, query));
  }

  watch(given: AnyQuery): ReadableStream<Shaped> {
    const query = givenQuery(given);
    const context = this.#context;
    return this.#live("watch", query, () =>
      watchRow(context, whereOf(context, query), query, async (found, meter) =>
        found === null ? null : shapeRow(context, found, query, meter),
      ),
    );
  }

  watchMany(given: AnyQuery): ReadableStream<readonly Shaped[]> {
    const query = givenQuery(given);
    const context = this.#context;
    return this.#live("watchMany", query, () =>
      watchRows(context, query, (rows, meter) => shapeRows(context, rows, query, meter)),
    );
  }

  #live<T>(method: Method, query: AnyQuery, watch: () => ReadableStream<T>): ReadableStream<T> {
    try {
      checkedOptions(this.#context, method, query);
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
    const context = this.#context;
    return new RowQuery<Shaped>(
      () =>
        this.#read(operation, query, async (meter) => {
          const { items, cursor } = await page(context, query, meter);
          return { items: await shapeRows(context, items, query, meter), cursor };
        }),
      () =>
        streamCall(context, operation, query, (meter) =>
          shapedStream(context, query, stream, meter),
        ),
    );
  }

  /** A read, which is made again where rows that it includes were deleted between it and them. */
  #read<T>(
    operation: Operation,
    query: AnyQuery,
    read: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    // Looked at with care: it may be missing, which `runCall` says.
    const again =
      query?.include === undefined ? read : (meter: ReadMeter) => rereadTorn(() => read(meter));
    return runCall(this.#context, operation, query, again);
  }

  /** The row to return, of which an index entry may hold enough. */
  #find(query: AnyQuery, meter: ReadMeter): Promise<FoundRow | undefined> {
    const { select, include, withVersionstamp } = query;
    const asked = { select, include, withVersionstamp, forWrite: false };
    return findOne(this.#context, whereOf(this.#context, query), meter, asked);
  }

  async #first(query: AnyQuery, meter: ReadMeter): Promise<Shaped> {
    const found = await findFirstRow(this.#context, query, meter);
    return found === undefined ? undefined : shapeRow(this.#context, found, query, meter);
  }
}

/** Rows one by one, shaped in groups so that their relations are read together. */
async function* shapedStream(
  context: TableContext,
  query: AnyQuery,
  stream: typeof streamRows,
  meter: ReadMeter,
): AsyncGenerator<Shaped> {
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
