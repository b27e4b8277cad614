import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { VersionedRow } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";
import { keyOf } from "../../navigation/links.js";
import { Dialog } from "../../parts/dialog.js";
import { ErrorNote } from "../../parts/error-note.js";

interface Props {
  readonly model: ModelInfo;
  readonly existing: VersionedRow;
  readonly onClose: () => void;
  readonly onRestored: (now: VersionedRow) => void;
}

/** Asks whether a row that is marked as deleted is to be restored, and says what comes back. */
export function RestoreDialog({ model, existing, onClose, onRestored }: Props): ComponentChild {
  const [cascade, setCascade] = useState(true);
  const [error, setError] = useState<StudioError | null>(null);
  const [isBusy, setBusy] = useState(false);

  const confirm = () => {
    setBusy(true);
    const { property } = model;
    const { row, versionstamp } = existing;
    call("restore", { property, key: keyOf(model, row), versionstamp, cascade }).then(
      onRestored,
      (failure) => {
        setError(errorDetails(failure));
        setBusy(false);
      },
    );
  };
  return (
    <Dialog title="Restore this row?" onClose={onClose}>
      <label class="check">
        <input
          type="checkbox"
          checked={cascade}
          onChange={({ currentTarget }) => setCascade(currentTarget.checked)}
        />
        Restore also the rows that were deleted together with it.
      </label>
      <p>
        References to these rows lead to them again. Rows that were deleted before stay deleted, and
        so do rows that were removed from the database. If another row has taken a unique value,
        nothing is restored.
      </p>
      {error !== null && <ErrorNote error={error} />}
      <footer class="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" disabled={isBusy} onClick={confirm}>
          Restore
        </button>
      </footer>
    </Dialog>
  );
}
