import type { ComponentChild } from "preact";
import { MenuButton } from "../../../parts/menu-button.js";
import { Text } from "../../../values/text.js";
import type { RowColumns } from "./row-columns.js";

interface Props {
  readonly columns: RowColumns;
  /** Called with the name of a column by which to sort or filter. */
  readonly onColumn: (name: string) => void;
}

/** Chooses the visible columns and their widths, and sorts and filters by them. */
export function ColumnMenu({ columns, onColumn }: Props): ComponentChild {
  const widen = (id: string, size: number) =>
    columns.setColumnSizing((last) => ({ ...last, [id]: Math.max(60, Math.min(1200, size)) }));
  return (
    <MenuButton label="Columns">
      <ul class="column-list">
        {columns.getAllLeafColumns().map((column) => (
          <li key={column.id}>
            <label class="check">
              <input
                type="checkbox"
                checked={column.getIsVisible()}
                onChange={(event) => column.toggleVisibility(event.currentTarget.checked)}
              />
              <Text text={column.id} />
            </label>
            <button
              type="button"
              aria-label={`Sort and filter by ${column.id}`}
              onClick={() => onColumn(column.id)}
            >
              ⇅
            </button>
            <button
              type="button"
              aria-label={`Make ${column.id} narrower`}
              onClick={() => widen(column.id, column.getSize() - 40)}
            >
              −
            </button>
            <button
              type="button"
              aria-label={`Make ${column.id} wider`}
              onClick={() => widen(column.id, column.getSize() + 40)}
            >
              +
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => columns.resetColumnSizing()}>
        Reset the widths
      </button>
    </MenuButton>
  );
}
