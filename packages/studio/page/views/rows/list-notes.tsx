import type { ComponentChild } from "preact";
import { ErrorNote } from "../../parts/error-note.js";
import type { RowList } from "./row-list.js";
import type { LiveState } from "./use-live-rows.js";

interface Props {
  readonly list: RowList;
  readonly live: LiveState;
  readonly onReload: () => void;
}

/** Shows what went wrong with the list, and what changed since it was loaded. */
export function ListNotes({ list, live, onReload }: Props): ComponentChild {
  const { error } = list;
  return (
    <>
      {error !== null && <ErrorNote error={error} onRetry={() => void list.loadMore()} />}
      {live.isStale && (
        <p class="note">
          Many rows have changed. <ReloadButton label="Reload" onReload={onReload} />
        </p>
      )}
      {!live.isStale && live.others > 0 && (
        <p class="note">
          <ReloadButton
            label={`${live.others} new or changed ${live.others === 1 ? "row" : "rows"}: reload`}
            onReload={onReload}
          />
        </p>
      )}
      <p class="visually-hidden" role="status">
        {live.news}
      </p>
    </>
  );
}

function ReloadButton(props: { label: string; onReload: () => void }): ComponentChild {
  return (
    <button type="button" onClick={props.onReload}>
      {props.label}
    </button>
  );
}
