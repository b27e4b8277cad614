import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { FieldInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { call } from "../../../api/call.js";
import { keyOf } from "../../../navigation/links.js";
import { Dialog } from "../../../parts/dialog.js";
import { parseValue } from "../../../values/parse-value.js";
import { countText } from "../../../values/value-text.js";
import { visibleText } from "../../../values/visible-text.js";
import { FieldInput } from "../../row/field-input.js";
import type { FieldDraft } from "../../row/row-draft.js";
import type { RowList, ShownRow } from "../row-list.js";
import { canEdit } from "../table/cell-editor.js";
import { EachRowResult } from "./each-row-result.js";
import { useEachRow } from "./use-each-row.js";

interface Props {
  readonly model: ModelInfo;
  readonly list: RowList;
  readonly rows: readonly ShownRow[];
  readonly onClose: () => void;
}

const nothing: FieldDraft = { state: "value", text: "" };

/** Gives one field the same value in several rows. */
export function ChangeDialog({ model, list, rows, onClose }: Props): ComponentChild {
  const fields = model.fields.filter((field) => canEdit(model, field));
  const [name, setName] = useState(fields[0]?.name ?? "");
  const [draft, setDraft] = useState(nothing);
  const [issue, setIssue] = useState<string | null>(null);
  const [state, run] = useEachRow();
  const field = fields.find((each) => each.name === name);
  const { property } = model;

  const submit = (chosen: FieldInfo) => {
    const read = valueOfDraft(chosen, draft);
    setIssue("message" in read ? read.message : null);
    if ("message" in read) return;
    void run(rows, async ({ id, row, versionstamp }) => {
      const data = { [chosen.name]: read.value };
      const key = keyOf(model, row);
      list.update(id, await call("update", { property, key, data, versionstamp }));
    });
  };
  return (
    <Dialog title={`Change ${countText(rows.length, "row")}`} onClose={onClose}>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (field !== undefined && !state.isRunning && !state.isOver) submit(field);
        }}
      >
        <label class="field-inline">
          <span>Field</span>
          <select
            value={name}
            onChange={(event) => {
              setName(event.currentTarget.value);
              setDraft(nothing);
              setIssue(null);
            }}
          >
            {fields.map((each) => (
              <option key={each.name} value={each.name}>
                {visibleText(each.name)}
              </option>
            ))}
          </select>
        </label>
        {field !== undefined && (
          <FieldInput
            key={name}
            field={field}
            draft={draft}
            isNew={false}
            isFixed={false}
            issues={issue === null ? [] : [issue]}
            onChange={setDraft}
          />
        )}
        <EachRowResult {...{ model, state }} verb="changed" />
        <footer class="dialog-actions">
          <button type="button" onClick={onClose}>
            {state.isOver ? "Close" : "Cancel"}
          </button>
          {!state.isOver && (
            <button type="submit" class="primary" disabled={state.isRunning}>
              Change
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}

function valueOfDraft(
  field: FieldInfo,
  { state, text }: FieldDraft,
): { readonly value: unknown } | { readonly message: string } {
  if (state === "null") return { value: null };
  if (state === "absent") return { value: undefined };
  const parsed = parseValue(field, text);
  return parsed.ok ? { value: parsed.value } : { message: parsed.message };
}
