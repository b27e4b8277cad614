import type { KvKeyPart } from "@keywright/core";
import type { Operation } from "../../errors/orm-error.js";
import { InvalidArgumentError, UnindexedQueryError } from "../../errors/query-errors.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { UnknownIndexError } from "../../errors/schema-errors.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { deepCopy } from "../../model/rows/copy-of-data.js";
import type { AnyAggregateQuery } from "../../read/aggregate/aggregate-query.js";
import { aggregateRows, groupRows } from "../../read/aggregate/aggregate-rows.js";
import { countRows, rowExists } from "../../read/aggregate/count-rows.js";
import { type AnyRankQuery, rankRow } from "../../read/aggregate/rank-row.js";
import { type AnyDistinctQuery, distinctValues } from "../../read/find/distinct-values.js";
import { explainQuery, type QueryExplanation } from "../../read/find/explain-query.js";
import { findFirstRow, findPage, streamRows } from "../../read/find/find-rows.js";
import { findOne } from "../../read/find/find-unique.js";
import { skipping } from "../../read/find/skip-entries.js";
import { type AnyChangesQuery, rowChanges } from "../../read/history/row-changes.js";
import { readHistory } from "../../read/history/row-history.js";
import { watchRow } from "../../read/live/watch-row.js";
import { watchRows } from "../../read/live/watch-rows.js";
import { watchSearch } from "../../read/live/watch-search.js";
import { choosePlan, chooseScan } from "../../read/plan/choose-plan.js";
import { primaryKeyIn } from "../../read/plan/plan-unique.js";
import { explainSearch, type SearchExplanation } from "../../read/search/explain-search.js";
import type { AnySearchQuery } from "../../read/search/parsed-search.js";
import { type SearchedRows, searchRows } from "../../read/search/search-rows.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { Page } from "../../state/context/page.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedUnique } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { withDeletedRows } from "../../write/deleted/purging-context.js";
import type { Calls } from "../calls.js";
import { copyQuery, whereOf } from "../parse-options.js";
import { type ShapedRow, shapeRow, shapeRows, shapeStreamed } from "./results/shape-rows.js";

/** The number of rows of a stream whose relations are loaded together. */
const groupSize = 100;

/** The methods of a repository that only read, for any model. */
export class RowReads {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  findUnique(query: AnyQuery): Promise<ShapedRow> {
    return this.#readOne("findUnique", query, findUniqueRow, false);
  }

  findUniqueOrThrow(query: AnyQuery): Promise<ShapedRow> {
    return this.#readOne("findUniqueOrThrow", query, findUniqueRow, true);
  }

  findFirst(query: AnyQuery): Promise<ShapedRow> {
    return this.#readOne("findFirst", query, findFirstRow, false);
  }

  findFirstOrThrow(query: AnyQuery): Promise<ShapedRow> {
    return this.#readOne("findFirstOrThrow", query, findFirstRow, true);
  }

  findMany(query: AnyQuery): RowQuery<ShapedRow> {
    return this.#query("findMany", query, choosePlan);
  }

  scan(query: AnyQuery = {}): RowQuery<ShapedRow> {
    return this.#query("scan", query, chooseScan);
  }

  count(query: AnyQuery = {}): Promise<number> {
    return this.#calls.read("count", copyQuery(query), countRows);
  }

  aggregate(query: AnyAggregateQuery): Promise<ShapedRow> {
    return this.#calls.read("aggregate", copyOf(query), aggregateRows);
  }

  groupBy(query: AnyAggregateQuery): Promise<ShapedRow[]> {
    return this.#calls.read("groupBy", copyOf(query), groupRows);
  }

  rank(query: AnyRankQuery): Promise<number | null> {
    return this.#calls.read("rank", copyOf(query), rankRow);
  }

  distinct(query: AnyDistinctQuery): Promise<ShapedRow[]> {
    return this.#calls.read("distinct", copyOf(query), distinctValues);
  }

  exists(query: AnyQuery = {}): Promise<boolean> {
    return this.#calls.read("exists", copyQuery(query), rowExists);
  }

  explain(query: AnyQuery): Promise<QueryExplanation> {
    return this.#calls.read("explain", copyQuery(query), (view, options) =>
      readDeleted(view, async () => explainQuery(view, options)),
    );
  }

  search(query: AnySearchQuery): Promise<ShapedRow> {
    return this.#calls.read(
      "search",
      copyQuery(query),
      (view, options, meter) => searchRows(view, options as AnySearchQuery, meter),
      shapePage,
    );
  }

  explainSearch(query: AnySearchQuery): Promise<SearchExplanation> {
    return this.#calls.read("explainSearch", copyQuery(query), (view, options, meter) =>
      explainSearch(view, options as AnySearchQuery, meter),
    );
  }

  changes(query: AnyChangesQuery = {}): AsyncGenerator<ShapedRow> {
    return this.#calls.follow("changes", copyQuery(query), rowChanges);
  }

  history(query: AnyQuery): Promise<Page<ShapedRow>> {
    const { context } = this.#calls;
    return this.#calls.read("history", copyQuery(query), (_view, options, meter) =>
      readHistory(withDeletedRows(context), keyOf(context, options), options, meter),
    );
  }

  watch(query: AnyQuery): ReadableStream<ShapedRow> {
    const { context } = this.#calls;
    return this.#calls.watch("watch", copyQuery(query), (options, report) =>
      watchRow(context, whereOf(context, options), options, (view, found, meter) =>
        report(async () => (found === null ? null : shapeRow(view, found, options, meter))),
      ),
    );
  }

  watchMany(query: AnyQuery): ReadableStream<ShapedRow[]> {
    const { context } = this.#calls;
    return this.#calls.watch("watchMany", copyQuery(query), (options, report) =>
      watchRows(context, options, (view, rows, meter) =>
        report(() => shapeRows(view, rows, options, meter)),
      ),
    );
  }

  watchSearch(query: AnySearchQuery): ReadableStream<ShapedRow> {
    const { context } = this.#calls;
    return this.#calls.watch("watchSearch", copyQuery(query), (options, report) =>
      watchSearch(context, options as AnySearchQuery, (view, page, meter) =>
        report(() => shapePage(view, page, options, meter)),
      ),
    );
  }

  #query(operation: Operation, query: AnyQuery, choose: typeof choosePlan): RowQuery<ShapedRow> {
    const { page, stream } = queryReads(this.#calls, operation, copyQuery(query), choose);
    return new RowQuery(page, stream);
  }

  #readOne(
    operation: Operation,
    query: AnyQuery,
    find: typeof findFirstRow,
    isRequired: boolean,
  ): Promise<ShapedRow> {
    return this.#calls.read(
      operation,
      copyQuery(query),
      (view, options, meter) => readDeleted(view, () => find(view, options, meter)),
      (view, found, options, meter) => {
        if (found !== undefined) return shapeRow(view, found, options, meter);
        if (isRequired) throw new RowNotFoundError(view.model.name, options.where);
        return null;
      },
    );
  }
}

/** Returns a page of a search as the caller requested it. */
async function shapePage(
  view: ReadView,
  { items, cursor, count, ignored }: SearchedRows,
  options: AnyQuery,
  meter: ReadMeter,
): Promise<ShapedRow> {
  const found = items.map((item) => item.found);
  const rows = await shapeRows(view, found, options, meter);
  const shaped = items.map(({ score, highlights }, i) => ({ row: rows[i], score, highlights }));
  return { items: shaped, cursor, count, ignored };
}

/**
 * Returns the primary key that a query names.
 *
 * @throws {InvalidArgumentError} if it names something else.
 */
export function keyOf(context: TableContext, query: AnyQuery): readonly KvKeyPart[] {
  const { model } = context;
  const where = scopedUnique(context, whereOf(context, query));
  const fields = Object.keys(where);
  const isKey = fields.every((field) => model.primaryKey.includes(field));
  if (isKey && fields.length === model.primaryKey.length) return primaryKeyIn(model, where);
  const reason = `it must name the primary key, ${model.primaryKey.join(", ")}`;
  throw new InvalidArgumentError(model.name, "where", reason);
}

/** How the rows of a query are read: a page of them, or one after another. */
export interface QueryReads<Row> {
  readonly page: () => Promise<Page<Row>>;
  readonly stream: () => AsyncGenerator<Row>;
}

/** Returns how the rows of a query are read. The query must be a copy of the caller's. */
export function queryReads(
  calls: Calls,
  operation: Operation,
  query: AnyQuery,
  choose: typeof choosePlan,
): QueryReads<ShapedRow> {
  return {
    page: () =>
      calls.read(
        operation,
        query,
        (view, options, meter) =>
          readDeleted(view, () => findPage(view, options, meter, skipping(choose, meter))),
        async (view, { items, cursor }, options, meter) => {
          return { items: await shapeRows(view, items, options, meter), cursor };
        },
      ),
    stream: () =>
      calls.stream(operation, query, (view, options, meter) => {
        const rows = streamRows(view, options, meter, (reading, page) =>
          readDeleted(view, () => skipping(choose, meter)(reading, page)),
        );
        return streamShaped(view, options, rows, meter);
      }),
  };
}

/**
 * Finds rows, also those that are marked as deleted if the view has them.
 *
 * @throws {InvalidArgumentError} if a read of such rows needs an index.
 */
function readDeleted<T>(view: ReadView, read: () => Promise<T>): Promise<T> {
  return view.withDeleted ? readWithDeleted(view.model.name, read) : read();
}

async function readWithDeleted<T>(model: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const needsIndex = error instanceof UnindexedQueryError || error instanceof UnknownIndexError;
    if (!needsIndex) throw error;
    const reason =
      "indexes leave deleted rows out; query by the primary key or in its order, and put other conditions into filter";
    throw new InvalidArgumentError(model, "withDeleted", reason);
  }
}

/** Copies a query without functions. An invalid argument is refused when the call runs. */
function copyOf<T extends AnyAggregateQuery | AnyDistinctQuery | AnyRankQuery>(query: T): T {
  return isPlainObject(query) ? deepCopy(query) : query;
}

/** Finds the row to return. An index entry is enough if it holds what the query returns. */
function findUniqueRow(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const { index, select, include, withVersionstamp } = query;
  const readQuery = { index, select, include, withVersionstamp, forWrite: false };
  return findOne(view, whereOf(view, query), meter, readQuery);
}

/**
 * Returns rows one by one. With `include`, they are shaped in groups, so that the relations of a
 * group are read together.
 */
async function* streamShaped(
  view: ReadView,
  query: AnyQuery,
  rows: AsyncGenerator<FoundRow>,
  meter: ReadMeter,
): AsyncGenerator<ShapedRow> {
  if (query.include === undefined) {
    for await (const found of rows) yield shapeRow(view, found, query, meter);
    return;
  }
  let group: FoundRow[] = [];
  for await (const found of rows) {
    group.push(found);
    if (group.length < groupSize) continue;
    yield* await shapeStreamed(view, group, query, meter);
    group = [];
  }
  yield* await shapeStreamed(view, group, query, meter);
}

/**
 * A query that has not been run yet. If it is awaited, it reads a page. If it is iterated with
 * `for await`, it reads one row after another without holding them in memory, and stops reading
 * when the loop ends.
 */
export class RowQuery<Row> implements Promise<Page<Row>>, AsyncIterable<Row> {
  readonly [Symbol.toStringTag] = "RowQuery";
  readonly #page: () => Promise<Page<Row>>;
  readonly #stream: () => AsyncGenerator<Row>;
  #result: Promise<Page<Row>> | undefined;

  constructor(page: () => Promise<Page<Row>>, stream: () => AsyncGenerator<Row>) {
    this.#page = page;
    this.#stream = stream;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a query is what makes it read.
  then<A = Page<Row>, B = never>(
    onFulfilled?: ((page: Page<Row>) => A | PromiseLike<A>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: a promise's type.
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#result ??= this.#page();
    return this.#result.then(onFulfilled, onRejected);
  }

  catch<B = never>(
    // biome-ignore lint/suspicious/noExplicitAny: a promise's type.
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<Page<Row> | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Page<Row>> {
    return this.then().finally(onFinally);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Row> {
    return this.#stream();
  }
}
