import type { FeedCommit } from "../../src/protocol/rows.js";
import type { StudioError } from "../../src/protocol/studio-error.js";
import { watchEvents } from "./watch-events.js";

interface Feed {
  /** The model, or null for all. */
  readonly property: string | null;
  /** The newest commit that is known, or null if the log has none. */
  readonly after: string | null;
  readonly onCommit: (commit: FeedCommit) => void;
  readonly onFailure: (error: StudioError) => void;
}

/**
 * Calls `onCommit` with each further commit of the log, until the result is called. After a lost
 * connection it continues where it was.
 */
export function watchFeed({ property, after, onCommit, onFailure }: Feed): () => void {
  let last = after;
  return watchEvents<FeedCommit>({
    url: () => {
      const params = new URLSearchParams();
      if (property !== null) params.set("property", property);
      if (last !== null) params.set("after", last);
      return `/api/feed?${params}`;
    },
    onMessage: (commit, id) => {
      last = id;
      onCommit(commit);
    },
    onFailure,
  });
}
