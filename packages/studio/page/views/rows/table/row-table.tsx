import { useVirtualizer } from "@tanstack/react-virtual";
import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Row } from "../../../../src/protocol/rows.js";
import type { FieldInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { referencesOf } from "../../../navigation/references.js";
import { useStudio } from "../../../navigation/studio-context.js";
import type { Selection } from "../many/use-selection.js";
import type { RowList, ShownRow } from "../row-list.js";
import { canEdit } from "./cell-editor.js";
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
  readonly selection: Selection;
  readonly onOpen: (row: Row) => void;
  readonly onColumn: (field: FieldInfo) => void;
}

/** Shows the rows of a list, of which only the visible ones are in the page. */
export function RowTable(props: Props): ComponentChild {
  const { model, list, columns, openId, selection, onOpen, onColumn } = props;
  const { models, isReadOnly } = useStudio();
  const [edited, setEdited] = useState<EditedCell | null>(null);
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
    else if (event.key === " " && row !== undefined && !isReadOnly) selection.toggle(row);
    else if (event.key === "F2" && row !== undefined && !isReadOnly) edit(row, firstEditable());
    else return;
    event.preventDefault();
  };

  const visible = columns.getVisibleLeafColumns();
  const selectWidth = isReadOnly ? 0 : 36;
  const width = `${columns.getTotalSize() + selectWidth}px`;
  const edit = (row: ShownRow, field: string | null) =>
    setEdited(field === null ? null : { id: row.id, field });
  const firstEditable = () =>
    visible
      .map(({ id }) => model.fields.find(({ name }) => name === id))
      .find((field) => field !== undefined && canEdit(model, field))?.name ?? null;
  const closeEditor = () => {
    setEdited(null);
    scroller.current?.focus();
  };
  const relations = referencesOf(model);
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
        <TableHead
          {...{ model, columns, width, onColumn }}
          selectAll={
            isReadOnly
              ? null
              : {
                  isChecked: rows.length > 0 && selection.size === rows.length,
                  onChange: (isChecked) => (isChecked ? selection.set(rows) : selection.set([])),
                }
          }
        />
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
                model={model}
                isSelected={selection.has(shown.id)}
                edited={edited?.id === shown.id ? edited.field : null}
                onSelect={isReadOnly ? null : () => selection.toggle(shown)}
                onEdit={(field) => (field === null ? closeEditor() : edit(shown, field))}
                onSaved={(now) => {
                  closeEditor();
                  list.update(shown.id, now);
                }}
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

interface EditedCell {
  readonly id: string;
  readonly field: string;
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
