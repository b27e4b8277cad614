import { useCallback, useEffect, useState } from "preact/hooks";
import type { Page } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import { errorDetails } from "../../api/call-error.js";

export interface Pages<Item> {
  readonly items: readonly Item[];
  readonly error: StudioError | null;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
}

/** Loads a list page by page, the first one at once. `load` must stay the same function. */
export function usePages<Item>(load: (cursor: string | null) => Promise<Page<Item>>): Pages<Item> {
  const [items, setItems] = useState<readonly Item[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [hasMore, setHasMore] = useState(true);
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<StudioError | null>(null);

  const read = useCallback(
    async (from: string | null) => {
      setLoading(true);
      setError(null);
      try {
        const page = await load(from);
        setItems((last) => (from === null ? page.items : [...last, ...page.items]));
        setCursor(page.cursor);
        setHasMore(page.cursor !== null);
      } catch (failure) {
        setError(errorDetails(failure));
      }
      setLoading(false);
    },
    [load],
  );
  useEffect(() => void read(null), [read]);
  return { items, error, isLoading, hasMore, loadMore: () => void read(cursor) };
}
