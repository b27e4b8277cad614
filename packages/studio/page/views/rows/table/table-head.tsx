import type { ComponentChild } from "preact";
import type { ModelInfo } from "../../../../src/protocol/protocol.js";
import { Text } from "../../../values/text.js";
import type { RowColumns } from "./row-columns.js";

interface Props {
  readonly model: ModelInfo;
  readonly columns: RowColumns;
  readonly width: string;
}

/** Shows the names of the columns, whose edges can be dragged. */
export function TableHead({ model, columns, width }: Props): ComponentChild {
  return (
    // biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place.
    <div role="rowgroup" class="grid-head" style={{ width }}>
      {columns.getHeaderGroups().map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place.
        <div role="row" tabIndex={-1} class="grid-row" aria-rowindex={1} key={group.id}>
          {group.headers.map((header) => {
            const field = model.fields.find(({ name }) => name === header.column.id);
            const onDrag = header.getResizeHandler();
            return (
              // biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place.
              <div
                role="columnheader"
                tabIndex={-1}
                class="grid-cell"
                key={header.id}
                style={{ width: `${header.getSize()}px` }}
                title={field?.type}
              >
                <span class="cut">
                  <Text text={header.column.id} />
                  {model.primaryKey.includes(header.column.id) && (
                    <span class="key-mark" title="primary key">
                      {" "}
                      key
                    </span>
                  )}
                </span>
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
