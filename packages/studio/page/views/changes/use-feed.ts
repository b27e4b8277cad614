import { useCallback, useEffect, useState } from "preact/hooks";
import type { FeedCommit } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";
import { watchFeed } from "../../api/watch-feed.js";

/** The page keeps at most so many of the newest commits while it follows the log. */
const mostKept = 1000;

export interface FeedState {
  /** The newest first. */
  readonly commits: readonly FeedCommit[];
  /** How many have come since the page was opened. */
  readonly fresh: number;
  readonly error: StudioError | null;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
}

const empty: FeedState = { commits: [], fresh: 0, error: null, isLoading: true, hasMore: false };

/** Reads the newest commits of the log, and adds those that come. */
export function useFeed(property: string | null): FeedState & {
  readonly loadMore: () => void;
  readonly reload: () => void;
} {
  const [state, setState] = useState(empty);
  const [cursor, setCursor] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let isCurrent = true;
    let stop: () => void = () => undefined;
    setState(empty);
    const fail = (error: unknown) => {
      if (!isCurrent) return;
      setState((last) => ({ ...last, error: errorDetails(error), isLoading: false }));
    };
    call("feed", { property, before: null }).then(({ items, newest, cursor: next }) => {
      if (!isCurrent) return;
      setCursor(next);
      setState({ ...empty, commits: items, isLoading: false, hasMore: next !== null });
      const onCommit = (commit: FeedCommit) =>
        setState((last) => ({
          ...last,
          commits: [commit, ...last.commits].slice(0, mostKept),
          fresh: last.fresh + 1,
        }));
      const onFailure = (error: StudioError) => setState((last) => ({ ...last, error }));
      stop = watchFeed({ property, after: newest, onCommit, onFailure });
    }, fail);
    return () => {
      isCurrent = false;
      stop();
    };
  }, [property, attempt]);

  const loadMore = useCallback(() => {
    setState((last) => ({ ...last, isLoading: true }));
    call("feed", { property, before: cursor }).then(
      ({ items, cursor: next }) => {
        setCursor(next);
        setState((last) => ({
          ...last,
          commits: [...last.commits, ...items],
          isLoading: false,
          hasMore: next !== null,
        }));
      },
      (error) => setState((last) => ({ ...last, error: errorDetails(error), isLoading: false })),
    );
  }, [property, cursor]);
  const reload = useCallback(() => setAttempt((last) => last + 1), []);
  return { ...state, loadMore, reload };
}
