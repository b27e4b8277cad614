import type { ComponentChild } from "preact";
import { useCallback } from "preact/hooks";
import type { MigrationState } from "../../../src/protocol/maintenance.js";
import { call } from "../../api/call.js";
import { Text } from "../../values/text.js";
import { KeyLink } from "../jobs/key-link.js";
import { MoreRows } from "../jobs/more-rows.js";
import { usePages } from "../jobs/use-pages.js";

/** Shows the rows that could not be changed to the new schema. */
export function FailedRows({ models }: { models: MigrationState["models"] }): ComponentChild {
  const failing = models.filter(({ failed }) => failed > 0);
  if (failing.length === 0) return null;
  return (
    <section>
      <h2>Rows that failed</h2>
      {failing.map(({ model, failed }) => (
        <FailedOfModel key={`${model} ${failed}`} model={model} failed={failed} />
      ))}
    </section>
  );
}

function FailedOfModel({ model, failed }: { model: string; failed: number }): ComponentChild {
  const load = useCallback(
    (cursor: string | null) => call("failedRows", { model, cursor }),
    [model],
  );
  const pages = usePages(load);
  return (
    <section class="plan-model">
      <h3>
        <Text text={model} /> <span class="muted">{failed.toLocaleString("en")}</span>
      </h3>
      <ul>
        {pages.items.map(({ key, reason }, index) => (
          <li key={index}>
            <KeyLink model={model} rowKey={key} />: <Text text={reason} />
          </li>
        ))}
      </ul>
      <MoreRows pages={pages} none="None is left." />
    </section>
  );
}
