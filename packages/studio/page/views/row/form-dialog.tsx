import type { ComponentChild } from "preact";
import { Dialog } from "../../parts/dialog.js";
import { RowForm, type RowFormProps } from "./row-form.js";

/** Shows the form for a new row, or for all fields of one that exists. */
export function FormDialog(props: Omit<RowFormProps, "fields">): ComponentChild {
  const { model, existing, onClose } = props;
  const fields = model.fields.filter(({ copied }) => copied === null);
  return (
    <Dialog title={existing === null ? "New row" : "Edit row"} onClose={onClose} isWide>
      <RowForm {...props} fields={fields} />
    </Dialog>
  );
}
