import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { IndexInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { rowsHref } from "../../../navigation/links.js";
import { visibleText } from "../../../values/visible-text.js";
import { ConditionField } from "./condition-field.js";
import { ConditionPicker } from "./condition-picker.js";
import {
  chosenIndex,
  type FieldConditions,
  isTextIndex,
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

/** Shows the search, the index, the conditions that it serves, and the order of the list. */
export function QueryBar({ model, state, onReload }: Props): ComponentChild {
  const [draft, setDraft] = useState(state);
  const place = queryParams(state).toString();
  // The same form stays, so that the focus does, when the address changes or one goes back.
  useEffect(() => setDraft(state), [place]);
  const fields = keyFields(model, draft);
  const isSearch = isTextIndex(chosenIndex(model, draft));
  const textIndex = model.indexes.find((each) => isTextIndex(each) && each.state === "readable");
  const order = isSearch ? null : orderField(model, fields, draft);
  const show = (next: QueryState) => {
    const served = onlyServed(model, next);
    setDraft(served);
    const href = rowsHref(model.property, queryParams(served));
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
        const isEmpty = draft.search === "";
        // An emptied search leads back to the list.
        if (isSearch && isEmpty && state.search !== "") show({ ...draft, index: null });
        else show(isSearch || isEmpty ? draft : { ...draft, index: textIndex?.name ?? null });
      }}
    >
      {textIndex !== undefined && (
        <label class="field-inline">
          <span>Search</span>
          <input
            type="text"
            class="search-input"
            value={draft.search}
            placeholder={'words, "a phrase", -without'}
            spellcheck={false}
            autocomplete="off"
            onInput={(event) => {
              const search = event.currentTarget.value;
              setDraft((last) => ({ ...last, search }));
            }}
          />
        </label>
      )}
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
              disabled={index.state !== "readable" || !(index.isQueryable || isTextIndex(index))}
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
          isServed={isSearch || fields.slice(0, position).every((before) => isFixed(draft, before))}
          isExact={isSearch}
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

/**
 * Removes what the index does not serve: conditions after a field without a single value, and for
 * a search all but single values.
 */
function onlyServed(model: ModelInfo, state: QueryState): QueryState {
  const conditions: Record<string, FieldConditions> = {};
  const fields = keyFields(model, state);
  if (isTextIndex(chosenIndex(model, state))) {
    for (const { name } of fields) conditions[name] = { eq: state.conditions[name]?.eq ?? "" };
    return { ...state, conditions, order: null, withDeleted: false };
  }
  for (const field of fields) {
    conditions[field.name] = state.conditions[field.name] ?? {};
    if (!isFixed(state, field)) break;
  }
  return { ...state, conditions, search: "" };
}

function indexLabel(index: IndexInfo): string {
  const fields = index.fields
    .map(({ name, isDescending }) => (isDescending ? `${name} desc` : name))
    .join(", ");
  const remarks = [
    index.isUnique ? "unique" : null,
    index.condition,
    index.state === "readable" ? null : index.state,
    index.text === null ? null : `words of ${index.text.join(", ")}`,
    index.isQueryable || isTextIndex(index) ? null : "computed key",
  ].filter((remark) => remark !== null);
  const key = fields === "" ? "" : ` (${fields})`;
  return visibleText(`${index.name}${key}${remarks.length === 0 ? "" : `, ${remarks.join(", ")}`}`);
}
