import type { ComponentChild } from "preact";
import type { FieldInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { Text } from "../../../values/text.js";
import type { RowColumns } from "./row-columns.js";

interface Props {
  readonly model: ModelInfo;
  readonly columns: RowColumns;
  readonly width: string;
  /** Null if rows cannot be selected. */
  readonly selectAll: { readonly isChecked: boolean; onChange(isChecked: boolean): void } | null;
  readonly onColumn: (field: FieldInfo) => void;
}

/** Shows the names of the columns, whose edges can be dragged. */
export function TableHead(props: Props): ComponentChild {
  const { model, columns, width, selectAll, onColumn } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: only some rows exist, in their places.
    <div role="rowgroup" class="grid-head" style={{ width }}>
      {columns.getHeaderGroups().map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: only some rows exist, in their places.
        <div role="row" tabIndex={-1} class="grid-row" aria-rowindex={1} key={group.id}>
          {selectAll !== null && (
            // biome-ignore lint/a11y/useSemanticElements: only some rows exist, in their places.
            <div role="columnheader" tabIndex={-1} class="grid-cell grid-select">
              <input
                type="checkbox"
                aria-label="Select all loaded rows"
                checked={selectAll.isChecked}
                onChange={(event) => selectAll.onChange(event.currentTarget.checked)}
              />
            </div>
          )}
          {group.headers.map((header) => {
            const field = model.fields.find(({ name }) => name === header.column.id);
            const onDrag = header.getResizeHandler();
            return (
              // biome-ignore lint/a11y/useSemanticElements: only some rows exist, in their places.
              <div
                role="columnheader"
                tabIndex={-1}
                class="grid-cell"
                key={header.id}
                style={{ width: `${header.getSize()}px` }}
                title={field?.type}
              >
                <button
                  type="button"
                  class="plain cut column-name"
                  // The menu of the columns has the same with the keyboard.
                  tabIndex={-1}
                  aria-label={`Sort and filter by ${header.column.id}`}
                  onClick={() => field !== undefined && onColumn(field)}
                >
                  <Text text={header.column.id} />
                </button>
                {model.primaryKey.includes(header.column.id) && (
                  <span class="key-mark" title="primary key">
                    {" "}
                    key
                  </span>
                )}
                {/* The menu of the columns changes widths with the keyboard. */}
                <span
                  class="resizer"
                  aria-hidden="true"
                  onMouseDown={onDrag}
                  onTouchStart={onDrag}
                  onDblClick={() => header.column.resetSize()}
                />
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}
