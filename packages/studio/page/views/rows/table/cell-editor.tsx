import type { ComponentChild } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { VersionedRow } from "../../../../src/protocol/rows.js";
import type { FieldInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { RowForm } from "../../row/row-form.js";

interface Props {
  readonly model: ModelInfo;
  readonly field: FieldInfo;
  readonly shown: VersionedRow;
  readonly onClose: () => void;
  readonly onSaved: (now: VersionedRow) => void;
}

/** Shows the form of one field over its cell. Enter saves, and Escape closes it. */
export function CellEditor({ model, field, shown, onClose, onSaved }: Props): ComponentChild {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    box.current?.querySelector<HTMLElement>("textarea, select")?.focus();
    box.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, []);
  return (
    <div
      role="dialog"
      tabIndex={-1}
      aria-label={`Edit ${field.name}`}
      class="cell-editor"
      ref={box}
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        // The keys of the table move between rows.
        event.stopPropagation();
        if (event.key === "Escape") onClose();
      }}
    >
      <RowForm {...{ model, onClose, onSaved }} existing={shown} fields={[field]} />
    </div>
  );
}

/** Returns true if the value of a field can be edited in the table. */
export function canEdit(model: ModelInfo, field: FieldInfo): boolean {
  return field.copied === null && !model.primaryKey.includes(field.name);
}
