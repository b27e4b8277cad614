import type { ComponentChild } from "preact";
import type { FoundDamage } from "../../../src/protocol/maintenance.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { Text } from "../../values/text.js";

/** Shows what a verification found in each index. */
export function DamageTable({ found }: { found: readonly FoundDamage[] }): ComponentChild {
  if (found.length === 0) return null;
  return (
    <TableScroller label="What the verification found">
      <table>
        <caption class="visually-hidden">What the verification found</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Index</th>
            <th scope="col">Rows</th>
            <th scope="col">Missing entries</th>
            <th scope="col">Entries without a row</th>
            <th scope="col">Wrong entries</th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ model, index, rows, missing, dangling, mismatched }) => (
            <tr key={`${model} ${index}`}>
              <td>
                <Text text={model} />
              </td>
              <th scope="row">
                <Text text={index} />
              </th>
              <td class="number">{rows.toLocaleString("en")}</td>
              <Damage count={missing} />
              <Damage count={dangling} />
              <Damage count={mismatched} />
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroller>
  );
}

function Damage({ count }: { count: number }): ComponentChild {
  return (
    <td class={count === 0 ? "number muted" : "number damage"}>{count.toLocaleString("en")}</td>
  );
}
