import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { IndexProgressInfo, MigrationState } from "../../../src/protocol/maintenance.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { Text } from "../../values/text.js";
import { DuplicateRows } from "./duplicate-rows.js";

/** Shows the state of each index in the database. */
export function IndexStates({ models }: { models: MigrationState["models"] }): ComponentChild {
  const [shown, setShown] = useState<{ model: string; index: string } | null>(null);
  const lines = models.flatMap(({ model, indexes }) =>
    Object.entries(indexes).map(([index, info]) => ({ model, index, info })),
  );
  if (lines.length === 0) return null;
  return (
    <section>
      <h2>Indexes</h2>
      <TableScroller label="States of the indexes">
        <table>
          <caption class="visually-hidden">States of the indexes</caption>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Index</th>
              <th scope="col">State</th>
              <th scope="col">Rows</th>
              <th scope="col">Duplicates</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ model, index, info }) => (
              <tr key={`${model} ${index}`}>
                <td>
                  <Text text={model} />
                </td>
                <th scope="row">
                  <Text text={index} />
                </th>
                <td>
                  <span class={info.state === "readable" ? "badge badge-good" : "badge badge-warn"}>
                    <Text text={info.state} />
                  </span>
                  {!info.isDeclared && <span class="muted"> not in the program</span>}
                </td>
                <td>{rowsText(info)}</td>
                <td>
                  {info.duplicates === 0 ? (
                    "none"
                  ) : (
                    <button type="button" onClick={() => setShown({ model, index })}>
                      Show {info.duplicates} of {index}
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableScroller>
      {shown !== null && <DuplicateRows key={`${shown.model} ${shown.index}`} {...shown} />}
    </section>
  );
}

function rowsText({ progress }: IndexProgressInfo): string {
  if (progress === null) return "";
  const done = progress.done.toLocaleString("en");
  return progress.total === undefined ? done : `${done} of ${progress.total.toLocaleString("en")}`;
}
