import type { ComponentChild } from "preact";
import { MenuButton } from "../../../parts/menu-button.js";
import { Text } from "../../../values/text.js";
import type { RowColumns } from "./row-columns.js";

/** Chooses the visible columns and their widths. */
export function ColumnMenu({ columns }: { columns: RowColumns }): ComponentChild {
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
