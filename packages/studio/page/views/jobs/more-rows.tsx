import type { ComponentChild } from "preact";
import { ErrorNote } from "../../parts/error-note.js";
import type { Pages } from "./use-pages.js";

/** Shows under a list whether there is more, and what went wrong. */
export function MoreRows({ pages, none }: { pages: Pages<unknown>; none: string }): ComponentChild {
  const { items, error, isLoading, hasMore, loadMore } = pages;
  if (error !== null) return <ErrorNote error={error} onRetry={loadMore} />;
  if (isLoading) return <p class="muted">Loading…</p>;
  if (items.length === 0 && !hasMore) return <p class="muted">{none}</p>;
  if (!hasMore) return null;
  return (
    <button type="button" onClick={loadMore}>
      Load more
    </button>
  );
}
