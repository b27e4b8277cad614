import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { ModelInfo } from "../../../../src/protocol/studio-info.js";
import { countText } from "../../../values/value-text.js";
import type { RowList, ShownRow } from "../row-list.js";
import { ChangeDialog } from "./change-dialog.js";
import { DeleteManyDialog } from "./delete-many-dialog.js";
import type { Selection } from "./use-selection.js";

interface Props {
  readonly model: ModelInfo;
  readonly list: RowList;
  readonly selection: Selection;
}

interface OpenDialog {
  readonly kind: "change" | "delete";
  readonly rows: readonly ShownRow[];
}

/** Shows how many rows are selected, and what can be done with all of them. */
export function SelectionBar({ model, list, selection }: Props): ComponentChild {
  // A dialog keeps the rows as they were shown when it was opened, whatever becomes of them.
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const rows = list.rows.filter(({ id, state }) => selection.has(id) && state !== "gone");
  if (rows.length === 0 && dialog === null) return null;
  const opened = { model, list, rows: dialog?.rows ?? [], onClose: () => setDialog(null) };
  return (
    <div class="tools note" role="toolbar" aria-label="Selected rows">
      <span role="status">{countText(rows.length, "row")} selected</span>
      <button type="button" onClick={() => setDialog({ kind: "change", rows })}>
        Change a field…
      </button>
      <button type="button" class="danger" onClick={() => setDialog({ kind: "delete", rows })}>
        Delete…
      </button>
      <button type="button" onClick={() => selection.set([])}>
        Clear
      </button>
      {dialog?.kind === "change" && <ChangeDialog {...opened} />}
      {dialog?.kind === "delete" && <DeleteManyDialog {...opened} />}
    </div>
  );
}
