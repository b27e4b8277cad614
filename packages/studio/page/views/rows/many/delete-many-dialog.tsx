import type { ComponentChild } from "preact";
import type { ModelInfo } from "../../../../src/protocol/studio-info.js";
import { call } from "../../../api/call.js";
import { keyOf } from "../../../navigation/links.js";
import { Dialog } from "../../../parts/dialog.js";
import { countText } from "../../../values/value-text.js";
import type { RowList, ShownRow } from "../row-list.js";
import { EachRowResult } from "./each-row-result.js";
import { useEachRow } from "./use-each-row.js";

interface Props {
  readonly model: ModelInfo;
  readonly list: RowList;
  readonly rows: readonly ShownRow[];
  readonly onClose: () => void;
}

/** Deletes several rows, after a question. */
export function DeleteManyDialog({ model, list, rows, onClose }: Props): ComponentChild {
  const [state, run] = useEachRow();
  const { property } = model;
  const remove = async ({ id, row, versionstamp }: ShownRow) => {
    await call("delete", { property, key: keyOf(model, row), versionstamp });
    list.update(id, null);
  };
  return (
    <Dialog title={`Delete ${countText(rows.length, "row")}?`} onClose={onClose}>
      {!state.isOver && (
        <p>
          {model.softDelete === null
            ? "Rows that belong to them are deleted too, as their relations say."
            : "The rows are only marked as deleted, and can be restored."}
        </p>
      )}
      <EachRowResult {...{ model, state }} verb="deleted" />
      <footer class="dialog-actions">
        <button type="button" onClick={onClose}>
          {state.isOver ? "Close" : "Cancel"}
        </button>
        {!state.isOver && (
          <button
            type="button"
            class="danger"
            disabled={state.isRunning}
            onClick={() => void run(rows, remove)}
          >
            Delete
          </button>
        )}
      </footer>
    </Dialog>
  );
}
