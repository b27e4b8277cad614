import { useCallback, useEffect, useMemo, useReducer, useState } from "preact/hooks";
import type { RowsQuery } from "../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { encode } from "../../../src/protocol/wire.js";
import { RowList } from "./row-list.js";

/** Loads the first page of a query, and begins again with `reload` or another query. */
export function useRowList(
  model: ModelInfo,
  query: RowsQuery,
): { list: RowList; reload: () => void; attempt: number } {
  const [, render] = useReducer<number, void>((count) => count + 1, 0);
  const [attempt, setAttempt] = useState(0);
  const body = encode(query);

  // `body` stands for the query.
  const list = useMemo(() => {
    const created: RowList = new RowList(model, query, () => render(undefined));
    return created;
  }, [model, body, attempt]);

  useEffect(() => void list.loadMore(), [list]);
  const reload = useCallback(() => setAttempt((last) => last + 1), []);
  return { list, reload, attempt };
}
