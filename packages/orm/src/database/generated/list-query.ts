import type { QueryExplanation } from "../../read/find/explain-query.js";
import { type QueryReads, RowQuery } from "../repository/row-reads.js";

/** The calls that a list can become. */
interface ListCalls<Row> extends QueryReads<Row> {
  findFirst(): Promise<Row | null>;
  findFirstOrThrow(): Promise<Row>;
  explain(): Promise<QueryExplanation>;
}

/**
 * A list of a generated repository that has not been read yet. In addition to reading a page or one
 * row after another, it can read only its first row, and explain itself.
 */
export class ListQuery<Row> extends RowQuery<Row> {
  readonly #calls: ListCalls<Row>;

  constructor(calls: ListCalls<Row>) {
    super(calls.page, calls.stream);
    this.#calls = calls;
  }

  /** Returns the first row, or null if there is none. The option `take` has no effect. */
  first(): Promise<Row | null> {
    return this.#calls.findFirst();
  }

  /**
   * Returns the first row.
   *
   * @throws {RowNotFoundError} if there is none.
   */
  firstOrThrow(): Promise<Row> {
    return this.#calls.findFirstOrThrow();
  }

  /**
   * Returns how the list is read: the index, the ranges of keys and the number of reads. Reads no
   * rows.
   */
  explain(): Promise<QueryExplanation> {
    return this.#calls.explain();
  }
}
