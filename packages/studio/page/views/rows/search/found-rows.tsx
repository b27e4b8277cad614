import type { ComponentChild } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { Row, SearchHit, SearchHits } from "../../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../../src/protocol/studio-info.js";
import { call } from "../../../api/call.js";
import { keyId, keyOf, rowHref } from "../../../navigation/links.js";
import { Text } from "../../../values/text.js";
import { countText } from "../../../values/value-text.js";
import { MoreRows } from "../../jobs/more-rows.js";
import { usePages } from "../../jobs/use-pages.js";
import { labelOf } from "../../pick/find-rows.js";
import { keyFields, type QueryState } from "../query/query-state.js";
import { ExcerptText } from "./excerpt-text.js";
import { IgnoredParts } from "./ignored-parts.js";

interface Props {
  readonly model: ModelInfo;
  readonly state: QueryState;
  /** The values of the key of the full-text index. */
  readonly where: Row;
}

/** Shows the rows that a search finds, or what it still needs. */
export function FoundRows({ model, state, where }: Props): ComponentChild {
  const missing = keyFields(model, state).find(({ name }) => !(name in where));
  if (missing !== undefined)
    return (
      <p class="muted">
        This index is divided by <Text text={missing.name} />: give the value to search in.
      </p>
    );
  if (state.search === "") return <p class="muted">Type what to search for.</p>;
  return <Hits {...{ model, state, where }} />;
}

/** Shows the hits, the best first. Another search needs another element. */
function Hits({ model, state, where }: Props): ComponentChild {
  const { property } = model;
  const { index, search: query } = state;
  const [found, setFound] = useState<SearchHits | null>(null);
  const load = useCallback(async (cursor: string | null) => {
    const page = await call("search", { property, index: index ?? "", query, where, cursor });
    setFound(page);
    return page;
  }, []);
  const pages = usePages<SearchHit>(load);
  return (
    <section class="hits" aria-label={`Found rows of ${property}`}>
      <p class="row-count" role="status">
        {found !== null && `${countText(found.count, "row")} found`}
      </p>
      {found !== null && <IgnoredParts parts={found.ignored} />}
      <ol class="commits">
        {pages.items.map((hit) => (
          <li key={keyId(model, hit.row)} class="card hit">
            <p class="card-header">
              <a href={rowHref(property, keyOf(model, hit.row))}>
                <Text text={labelOf(model, hit.row)} />
              </a>
              <span class="muted">score {hit.score.toFixed(2)}</span>
            </p>
            {hit.excerpts.map((excerpt) => (
              <ExcerptText key={excerpt.field} excerpt={excerpt} />
            ))}
          </li>
        ))}
      </ol>
      <MoreRows pages={pages} none="No row matches." />
    </section>
  );
}
