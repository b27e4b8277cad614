/** A page of rows or of other results, with the cursor of the next page. */
export interface Page<Row> {
  readonly items: Row[];
  /** Lets the same query continue after the last item. Null if there are no more items. */
  readonly cursor: string | null;
}

export interface PageOptions {
  /** The maximum number of rows. All rows if absent. */
  readonly take?: number | undefined;
  /** The cursor of an earlier page of the same query. */
  readonly cursor?: string | null | undefined;
}
