import type { AnyQuery } from "./any-query.js";
import type { TableContext } from "./table-context.js";

export interface QueryExplanation {
  readonly index: string;
}

export function explainQuery(_context: TableContext, _query: AnyQuery): QueryExplanation {
  throw new Error("not there yet");
}
