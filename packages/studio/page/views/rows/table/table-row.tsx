import type { ComponentChild } from "preact";
import type { VersionedRow } from "../../../../src/protocol/rows.js";
import type { FieldInfo, ModelInfo, RelationInfo } from "../../../../src/protocol/studio-info.js";
import type { ShownRow } from "../row-list.js";
import { CellEditor, canEdit } from "./cell-editor.js";
import { RowCell } from "./row-cell.js";
import type { RowColumns } from "./row-columns.js";

interface Props {
  readonly index: number;
  readonly top: number;
  readonly shown: ShownRow;
  readonly columns: ReturnType<RowColumns["getVisibleLeafColumns"]>;
  readonly model: ModelInfo;
  /** The relation of each field that refers to another row. */
  readonly relations: ReadonlyMap<string, RelationInfo>;
  readonly models: readonly ModelInfo[];
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  /** The field that is being edited in the table, or null. */
  readonly edited: string | null;
  readonly onOpen: () => void;
  /** Null if rows cannot be changed. */
  readonly onSelect: ((isSelected: boolean) => void) | null;
  readonly onEdit: (field: string | null) => void;
  readonly onSaved: (now: VersionedRow) => void;
}

// A change that scrolls into view later does not flash any more.
const flashTime = 2000;

export function TableRow(props: Props): ComponentChild {
  const { index, top, shown, columns, model, relations, models, isActive, isOpen, onOpen } = props;
  const { isSelected, edited, onSelect, onEdit, onSaved } = props;
  const isFresh = shown.state !== "same" && Date.now() - shown.seenAt < flashTime;
  const names = ["grid-row", "grid-line", `is-${shown.state}`];
  if (isActive) names.push("is-active");
  if (isFresh) names.push("is-fresh");
  if (edited !== null) names.push("is-edited");
  const editable = (name: string) => {
    const field = model.fields.find((each) => each.name === name);
    const isEditable = onSelect !== null && shown.state !== "gone" && field !== undefined;
    return isEditable && canEdit(model, field) ? field : undefined;
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all rows.
    <div
      role="row"
      id={`row-${index}`}
      tabIndex={-1}
      class={names.join(" ")}
      // Another element for each change, so that it flashes again.
      key={shown.seenAt}
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      title={stateText[shown.state]}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onOpen}
    >
      {onSelect !== null && (
        // biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the space bar selects the active row.
        <div
          role="gridcell"
          tabIndex={-1}
          class="grid-cell grid-select"
          onClick={(event) => event.stopPropagation()}
        >
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label="Select this row"
            checked={isSelected}
            disabled={shown.state === "gone"}
            onChange={(event) => onSelect(event.currentTarget.checked)}
          />
        </div>
      )}
      {columns.map((column) => (
        // biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place.
        <div
          role="gridcell"
          tabIndex={-1}
          class="grid-cell"
          key={column.id}
          style={{ width: `${column.getSize()}px` }}
        >
          <span class="cut">
            <RowCell
              row={shown.row}
              field={column.id}
              relation={relations.get(column.id)}
              models={models}
            />
          </span>
          <EditableCell
            {...{ model, shown, onEdit, onSaved }}
            field={editable(column.id)}
            isEdited={edited === column.id}
          />
        </div>
      ))}
    </div>
  );
}

interface EditableProps {
  readonly model: ModelInfo;
  readonly shown: ShownRow;
  /** Undefined if it cannot be edited. */
  readonly field: FieldInfo | undefined;
  readonly isEdited: boolean;
  readonly onEdit: (field: string | null) => void;
  readonly onSaved: (now: VersionedRow) => void;
}

function EditableCell(props: EditableProps): ComponentChild {
  const { model, shown, field, isEdited, onEdit, onSaved } = props;
  if (field === undefined) return null;
  if (isEdited)
    return <CellEditor {...{ model, field, shown, onSaved }} onClose={() => onEdit(null)} />;
  return (
    <button
      type="button"
      class="plain cell-edit"
      // For the mouse only. The table is one stop of the tab key, where F2 edits the active row.
      tabIndex={-1}
      aria-hidden="true"
      title={`Edit ${field.name}`}
      onClick={(event) => {
        event.stopPropagation();
        onEdit(field.name);
      }}
    >
      ✎
    </button>
  );
}

const stateText = {
  same: undefined,
  changed: "This row has changed",
  gone: "This row was deleted",
};
