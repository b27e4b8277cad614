import type { ComponentChild } from "preact";
import type { FeedChange, FeedCommit } from "../../../src/protocol/rows.js";
import { rowHref } from "../../navigation/links.js";
import { type Route, replaceRoute } from "../../navigation/route.js";
import { useStudio } from "../../navigation/studio-context.js";
import { ErrorNote } from "../../parts/error-note.js";
import { CommitNote } from "../../values/commit-note.js";
import { Differences } from "../../values/differences.js";
import { Text } from "../../values/text.js";
import { countText, valueText } from "../../values/value-text.js";
import { useFeed } from "./use-feed.js";

/** Shows the commits of the log, the newest first, and those that come. */
export function ChangesView({ route }: { route: Route }): ComponentChild {
  const { hasLog } = useStudio();
  return (
    <section class="page">
      <h1>Changes</h1>
      {hasLog ? (
        <Feed property={route.params.get("model")} />
      ) : (
        <p class="note">
          The database keeps no log of its commits. <code>keywright log on</code> begins one.
        </p>
      )}
    </section>
  );
}

function Feed({ property }: { property: string | null }): ComponentChild {
  const { models } = useStudio();
  const { commits, fresh, error, isLoading, hasMore, loadMore, reload } = useFeed(property);
  const choose = (model: string) =>
    replaceRoute(model === "" ? "#/changes" : `#/changes?${new URLSearchParams({ model })}`);
  return (
    <>
      <div class="tools">
        <label class="check">
          Rows of
          <select
            value={property ?? ""}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          >
            <option value="">all models</option>
            {models.map((model) => (
              <option key={model.property} value={model.property}>
                {model.property}
              </option>
            ))}
          </select>
        </label>
        <span class="muted" role="status">
          {fresh === 0 ? "" : `${countText(fresh, "new commit")}`}
        </span>
      </div>
      <ol class="commits" aria-label="Commits">
        {commits.map((commit) => (
          <li key={commit.versionstamp} class="card">
            <Commit commit={commit} />
          </li>
        ))}
      </ol>
      {error !== null && <ErrorNote error={error} onRetry={reload} />}
      {isLoading && <p class="muted">Loading…</p>}
      {!isLoading && error === null && commits.length === 0 && (
        <p class="muted">{hasMore ? "None of the newest commits." : "The log has no commit."}</p>
      )}
      {hasMore && !isLoading && (
        <button type="button" onClick={loadMore}>
          Load more
        </button>
      )}
    </>
  );
}

function Commit({ commit }: { commit: FeedCommit }): ComponentChild {
  const { versionstamp, time, context, rows, more, others } = commit;
  return (
    <>
      <CommitNote versionstamp={versionstamp} time={time} context={context} />
      {rows.map((change, index) => (
        <Change key={index} change={change} />
      ))}
      {more > 0 && <p class="muted">and {countText(more, "row")} more</p>}
      {rows.length === 0 && (
        <p class="muted">Changed {countText(others, "key")} outside of rows.</p>
      )}
    </>
  );
}

function Change({ change }: { change: FeedChange }): ComponentChild {
  const { property, key, type, before, after } = change;
  const text = Object.values(key)
    .map((value) => valueText(value, 60))
    .join(", ");
  return (
    <div class="commit-change">
      <p>
        <span class={`badge ${badges[type]}`}>{type}</span> <Text text={property} />{" "}
        <a href={rowHref(property, key)}>
          <Text text={text === "" ? "(empty)" : text} />
        </a>
      </p>
      {(before !== null || after !== null) && <Differences before={before} after={after} />}
    </div>
  );
}

const badges = {
  create: "badge-good",
  update: "badge-info",
  delete: "badge-bad",
  expire: "badge-warn",
} as const;
