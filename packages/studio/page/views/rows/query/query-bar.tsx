import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { IndexInfo, ModelInfo } from "../../../../src/protocol/protocol.js";
import { rowsHref } from "../../../navigation/links.js";
import { visibleText } from "../../../values/visible-text.js";
import { ConditionField } from "./condition-field.js";
import { ConditionPicker } from "./condition-picker.js";
import {
  type FieldConditions,
  type KeyField,
  keyFields,
  type QueryState,
  queryParams,
} from "./query-state.js";

interface Props {
  readonly model: ModelInfo;
  readonly state: QueryState;
  readonly onReload: () => void;
}

/** Shows the index, the conditions that it serves, and the order of the list. */
export function QueryBar({ model, state, onReload }: Props): ComponentChild {
  const [draft, setDraft] = useState(state);
  const place = queryParams(state).toString();
  // The same form stays, so that the focus does, when the address changes or one goes back.
  useEffect(() => setDraft(state), [place]);
  const fields = keyFields(model, draft);
  const order = orderField(model, fields, draft);
  const show = (next: QueryState) => {
    setDraft(next);
    const href = rowsHref(model.property, queryParams(onlyServed(model, next)));
    if (href === location.hash) onReload();
    else location.hash = href;
  };
  const setConditions = (name: string, conditions: FieldConditions) =>
    setDraft((last) => ({ ...last, conditions: { ...last.conditions, [name]: conditions } }));

  return (
    <form
      class="query-bar"
      aria-label="Query"
      onSubmit={(event) => {
        event.preventDefault();
        show(draft);
      }}
    >
      <label class="field-inline">
        <span>Index</span>
        <select
          value={draft.index ?? ""}
          onChange={(event) => {
            const name = event.currentTarget.value;
            show({ ...draft, index: name === "" ? null : name, conditions: {}, order: null });
          }}
        >
          <option value="">primary key ({visibleText(model.primaryKey.join(", "))})</option>
          {model.indexes.map((index) => (
            <option
              key={index.name}
              value={index.name}
              disabled={!index.isQueryable || index.state !== "readable"}
            >
              {indexLabel(index)}
            </option>
          ))}
        </select>
      </label>
      {fields.map((field, position) => (
        <ConditionField
          key={`${draft.index}/${field.name}`}
          field={field}
          conditions={draft.conditions[field.name] ?? {}}
          isServed={fields.slice(0, position).every((before) => isFixed(draft, before))}
          onChange={(conditions) => setConditions(field.name, conditions)}
          picker={
            <ConditionPicker
              {...{ model, fields, field, state: draft }}
              onPick={(picked) =>
                setDraft((last) => ({ ...last, conditions: { ...last.conditions, ...picked } }))
              }
            />
          }
        />
      ))}
      {order !== null && (
        <label class="field-inline">
          <span>Order by {visibleText(order.name)}</span>
          <select
            value={draft.order ?? (order.isDescending ? "desc" : "asc")}
            onChange={(event) =>
              show({ ...draft, order: event.currentTarget.value as "asc" | "desc" })
            }
          >
            <option value="asc">ascending</option>
            <option value="desc">descending</option>
          </select>
        </label>
      )}
      {model.softDelete !== null && draft.index === null && (
        <label class="check">
          <input
            type="checkbox"
            checked={draft.withDeleted}
            onChange={(event) => show({ ...draft, withDeleted: event.currentTarget.checked })}
          />
          Show deleted rows
        </label>
      )}
      <button type="submit" class="primary">
        Show
      </button>
    </form>
  );
}

/** Returns the field that the order is about, or null if there is no choice. */
function orderField(
  model: ModelInfo,
  fields: readonly KeyField[],
  state: QueryState,
): { name: string; isDescending: boolean } | null {
  const free = fields.find((field) => !isFixed(state, field));
  if (free !== undefined) return free.isEach ? null : free;
  const name = model.primaryKey.find((each) => !fields.some((field) => field.name === each));
  return name === undefined ? null : { name, isDescending: false };
}

function isFixed(state: QueryState, field: KeyField): boolean {
  return (state.conditions[field.name]?.eq ?? "") !== "";
}

/** Removes conditions after a field without a single value, which the index does not serve. */
function onlyServed(model: ModelInfo, state: QueryState): QueryState {
  const conditions: Record<string, FieldConditions> = {};
  for (const field of keyFields(model, state)) {
    conditions[field.name] = state.conditions[field.name] ?? {};
    if (!isFixed(state, field)) break;
  }
  return { ...state, conditions };
}

function indexLabel(index: IndexInfo): string {
  const fields = index.fields
    .map(({ name, isDescending }) => (isDescending ? `${name} desc` : name))
    .join(", ");
  const remarks = [
    index.isUnique ? "unique" : null,
    index.condition,
    index.state === "readable" ? null : index.state,
    index.isQueryable ? null : "computed key",
  ].filter((remark) => remark !== null);
  return visibleText(
    `${index.name} (${fields})${remarks.length === 0 ? "" : `, ${remarks.join(", ")}`}`,
  );
}
