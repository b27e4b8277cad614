import type { ComponentChild } from "preact";
import type { TriedModel } from "../../../src/protocol/maintenance.js";
import type { Row } from "../../../src/protocol/rows.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { Text } from "../../values/text.js";
import { countText, valueText } from "../../values/value-text.js";
import { KeyLink } from "../jobs/key-link.js";

/** Shows what a change of rows would do: to which fields, in how many rows, and which rows fail. */
export function TriedRows({ tried }: { tried: readonly TriedModel[] }): ComponentChild {
  return tried.map((model) => (
    <section key={model.model} class="plan-model" aria-label={`Trial of ${model.model}`}>
      <h3>
        <Text text={model.model} />
      </h3>
      <p>
        {countText(model.rows, "row")} tried. {model.changed.toLocaleString("en")} would change,{" "}
        <span class={model.failed > 0 ? "damage" : ""}>
          {model.failed === 0 ? "none" : model.failed.toLocaleString("en")} would fail
        </span>
        .
      </p>
      {model.failures.length > 0 && <Failures model={model} />}
      {model.fields.length > 0 && <FieldTable model={model} />}
      {model.examples.length > 0 && <Examples model={model} />}
    </section>
  ));
}

function Failures({ model: { model, failures, failed } }: { model: TriedModel }): ComponentChild {
  return (
    <ul>
      {failures.map(({ key, reason }, index) => (
        <li key={index}>
          <KeyLink model={model} rowKey={key} />: <Text text={reason} />
        </li>
      ))}
      {failed > failures.length && <li class="muted">and more</li>}
    </ul>
  );
}

function FieldTable({ model: { model, fields } }: { model: TriedModel }): ComponentChild {
  const label = `Fields of ${model} that would differ`;
  return (
    <TableScroller label={label}>
      <table>
        <caption class="visually-hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Removed</th>
            <th scope="col">Changed</th>
            <th scope="col">Added</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ field, removed, changed, added }) => (
            <tr key={field}>
              <th scope="row">
                <Text text={field} />
              </th>
              <td class={removed === 0 ? "number muted" : "number damage"}>{inRows(removed)}</td>
              <td class={changed === 0 ? "number muted" : "number"}>{inRows(changed)}</td>
              <td class={added === 0 ? "number muted" : "number"}>{inRows(added)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroller>
  );
}

function inRows(count: number): string {
  return count === 0 ? "–" : `in ${countText(count, "row")}`;
}

function Examples({ model: { model, examples } }: { model: TriedModel }): ComponentChild {
  return (
    <details>
      <summary>The first {countText(examples.length, "row")} that would change</summary>
      <ul>
        {examples.map(({ key, before, after }, index) => (
          <li key={index}>
            <KeyLink model={model} rowKey={key} />: <Difference before={before} after={after} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Difference({ before, after }: { before: Row; after: Row }): ComponentChild {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && "; "}
      <Text text={name} /> <code>{<Text text={shown(before, name)} />}</code> →{" "}
      <code>{<Text text={shown(after, name)} />}</code>
    </span>
  ));
}

function shown(row: Row, field: string): string {
  if (!Object.hasOwn(row, field)) return "absent";
  const value = row[field];
  return typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : valueText(value, 60);
}
