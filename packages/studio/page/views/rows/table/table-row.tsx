import type { ComponentChild } from "preact";
import type { ModelInfo, RelationInfo } from "../../../../src/protocol/protocol.js";
import type { ShownRow } from "../row-list.js";
import { RowCell } from "./row-cell.js";
import type { RowColumns } from "./row-columns.js";

interface Props {
  readonly index: number;
  readonly top: number;
  readonly shown: ShownRow;
  readonly columns: ReturnType<RowColumns["getVisibleLeafColumns"]>;
  /** The relation of each field that refers to another row. */
  readonly relations: ReadonlyMap<string, RelationInfo>;
  readonly models: readonly ModelInfo[];
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

// A change that scrolls into view later does not flash any more.
const flashTime = 2000;

/** Shows one row of the table. */
export function TableRow(props: Props): ComponentChild {
  const { index, top, shown, columns, relations, models, isActive, isOpen, onOpen } = props;
  const isFresh = shown.state !== "same" && Date.now() - shown.seenAt < flashTime;
  const names = ["grid-row", "grid-line", `is-${shown.state}`];
  if (isActive) names.push("is-active");
  if (isFresh) names.push("is-fresh");
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
        </div>
      ))}
    </div>
  );
}

const stateText = {
  same: undefined,
  changed: "This row has changed",
  gone: "This row was deleted",
};
