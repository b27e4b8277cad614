import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { FieldInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { rowsHref } from "../../../navigation/links.js";
import { Dialog } from "../../../parts/dialog.js";
import { Text } from "../../../values/text.js";
import { type ColumnList, listBy, missingIndex } from "./column-access.js";
import { ConditionField } from "./condition-field.js";
import { ConditionPicker } from "./condition-picker.js";
import { keyFields, type QueryState, queryParams } from "./query-state.js";

interface Props {
  readonly model: ModelInfo;
  readonly field: FieldInfo;
  readonly state: QueryState;
  readonly onClose: () => void;
}

/** Sorts or filters the list by a column, or says which index would. */
export function ColumnDialog({ model, field, state, onClose }: Props): ComponentChild {
  const list = listBy(model, state, field.name);
  return (
    <Dialog title={`Sort and filter by ${field.name}`} onClose={onClose}>
      {list === null ? (
        <p>
          <Text text={missingIndex(field)} />
        </p>
      ) : (
        <ServedColumn {...{ model, field, list, onClose }} />
      )}
    </Dialog>
  );
}

interface ServedProps {
  readonly model: ModelInfo;
  readonly field: FieldInfo;
  readonly list: ColumnList;
  readonly onClose: () => void;
}

function ServedColumn({ model, field, list, onClose }: ServedProps): ComponentChild {
  const { name } = field;
  const [state, setState] = useState(list.state);
  const fields = keyFields(model, state);
  const keyField = fields.find((each) => each.name === name);
  const show = (next: QueryState) => {
    onClose();
    location.hash = rowsHref(model.property, queryParams(next));
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        show(state);
      }}
    >
      <p class="muted">
        Served by <Text text={list.by} />
        {list.condition !== null && (
          <>
            , which has only rows of which <Text text={list.condition} />
          </>
        )}
        .
      </p>
      {!list.isEach && (
        <div class="tools">
          <button type="button" onClick={() => show({ ...state, order: "asc" })}>
            Sort ascending
          </button>
          <button type="button" onClick={() => show({ ...state, order: "desc" })}>
            Sort descending
          </button>
        </div>
      )}
      {keyField !== undefined && (
        <ConditionField
          field={keyField}
          conditions={state.conditions[name] ?? {}}
          isServed
          isExact={false}
          onChange={(conditions) =>
            setState((last) => ({
              ...last,
              conditions: { ...last.conditions, [name]: conditions },
            }))
          }
          picker={
            <ConditionPicker
              {...{ model, fields, state }}
              field={keyField}
              onPick={(picked) =>
                setState((last) => ({ ...last, conditions: { ...last.conditions, ...picked } }))
              }
            />
          }
        />
      )}
      <footer class="dialog-actions">
        <button type="submit" class="primary">
          Filter
        </button>
      </footer>
    </form>
  );
}
