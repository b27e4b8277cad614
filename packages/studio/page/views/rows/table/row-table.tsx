import { useVirtualizer } from "@tanstack/react-virtual";
import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ModelInfo, Row } from "../../../../src/protocol/protocol.js";
import { useStudio } from "../../../navigation/studio-context.js";
import type { RowList } from "../row-list.js";
import { parentRelations } from "./row-cell.js";
import type { RowColumns } from "./row-columns.js";
import { TableHead } from "./table-head.js";
import { TableRow } from "./table-row.js";

const rowHeight = 32;
const headHeight = 34;

interface Props {
  readonly model: ModelInfo;
  readonly list: RowList;
  readonly columns: RowColumns;
  /** The row that the panel shows, or null. */
  readonly openId: string | null;
  readonly onOpen: (row: Row) => void;
}

/** Shows the rows of a list, of which only the visible ones are in the page. */
export function RowTable({ model, list, columns, openId, onOpen }: Props): ComponentChild {
  const { models } = useStudio();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const { rows } = list;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: headHeight,
  });
  const items = virtual.getVirtualItems();
  // A row that is scrolled away is not in the page.
  const hasActive = items.some(({ index }) => index === active);
  const last = items.at(-1)?.index ?? 0;

  useEffect(() => {
    if (list.error === null && rows.length > 0 && last > rows.length - 40) void list.loadMore();
  }, [list, last, rows.length, list.error]);

  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next, { align: "auto" });
    const row = rows[next];
    if (openId !== null && row !== undefined) onOpen(row.row);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const target = keyTarget(event.key, active, page, rows.length);
    const row = rows[active];
    if (target !== null) moveTo(target);
    else if (event.key === "Enter" && row !== undefined) onOpen(row.row);
    else return;
    event.preventDefault();
  };

  const visible = columns.getVisibleLeafColumns();
  const width = `${columns.getTotalSize()}px`;
  const relations = parentRelations(model);
  return (
    <div class="table-frame">
      {/* biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place. */}
      <div
        id="rows"
        class="grid"
        role="grid"
        tabIndex={0}
        ref={scroller}
        aria-label={`Rows of ${model.property}`}
        aria-rowcount={list.isComplete ? rows.length + 1 : -1}
        aria-colcount={visible.length}
        aria-busy={list.isLoading}
        aria-activedescendant={hasActive ? `row-${active}` : undefined}
        onKeyDown={onKeyDown}
      >
        <TableHead model={model} columns={columns} width={width} />
        {/* biome-ignore lint/a11y/useSemanticElements: only some rows exist, each at its own place. */}
        <div
          role="rowgroup"
          class="grid-body"
          style={{ height: `${virtual.getTotalSize()}px`, width }}
        >
          {items.map((item) => {
            const shown = rows[item.index];
            return shown === undefined ? null : (
              <TableRow
                key={item.key}
                index={item.index}
                top={item.start}
                shown={shown}
                columns={visible}
                relations={relations}
                models={models}
                isActive={item.index === active}
                isOpen={shown.id === openId}
                onOpen={() => {
                  setActive(item.index);
                  onOpen(shown.row);
                }}
              />
            );
          })}
        </div>
      </div>
      <p class="table-foot muted">{footText(list)}</p>
    </div>
  );
}

/** Returns the row that a key moves to, or null for other keys. */
function keyTarget(key: string, active: number, page: number, count: number): number | null {
  if (key === "ArrowDown") return active + 1;
  if (key === "ArrowUp") return active - 1;
  if (key === "PageDown") return active + page;
  if (key === "PageUp") return active - page;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

function footText(list: RowList): string {
  const loaded = list.rows.length.toLocaleString("en");
  if (list.isLoading) return list.rows.length === 0 ? "Loading…" : `${loaded} loaded, loading…`;
  if (list.isComplete) return list.rows.length === 0 ? "No rows" : `All ${loaded} loaded`;
  return `${loaded} loaded, more when you scroll`;
}
