import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { DeletionPreview, VersionedRow } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";
import { useCall } from "../../api/use-call.js";
import { keyOf, rowHref } from "../../navigation/links.js";
import { Dialog } from "../../parts/dialog.js";
import { ErrorNote } from "../../parts/error-note.js";
import { Text } from "../../values/text.js";
import { countText } from "../../values/value-text.js";

interface Props {
  readonly model: ModelInfo;
  readonly existing: VersionedRow;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks whether a row is to be deleted, and shows what else the deletion changes. */
export function DeleteDialog({ model, existing, onClose, onDeleted }: Props): ComponentChild {
  const key = keyOf(model, existing.row);
  const { property } = model;
  const preview = useCall("previewDelete", { property, key });
  const [error, setError] = useState<StudioError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isPrevented = (preview.data?.restricting.length ?? 0) > 0;

  const confirm = () => {
    setBusy(true);
    call("delete", { property, key, versionstamp: existing.versionstamp }).then(
      onDeleted,
      (failure) => {
        setError(errorDetails(failure));
        setBusy(false);
      },
    );
  };
  return (
    <Dialog title="Delete this row?" onClose={onClose}>
      {preview.isLoading && <p class="muted">Reading what depends on it…</p>}
      {preview.error !== null && <ErrorNote error={preview.error} onRetry={preview.reload} />}
      {preview.data !== null && <Consequences preview={preview.data} />}
      {error !== null && <ErrorNote error={error} />}
      <footer class="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          disabled={isBusy || preview.data === null || isPrevented}
          onClick={confirm}
        >
          Delete
        </button>
      </footer>
    </Dialog>
  );
}

function Consequences({ preview }: { preview: DeletionPreview }): ComponentChild {
  const { deleted, cleared, restricting, isSoft, isIncomplete } = preview;
  const isAlone = deleted.length + cleared.length + restricting.length === 0;
  return (
    <>
      {isSoft ? (
        <p>
          The row is only marked as deleted. It can be restored, with the rows that are deleted
          together with it. References to it stay, and lead to it again after that.
        </p>
      ) : (
        <p>The row is removed for good. References to it that are cleared do not come back.</p>
      )}
      {isAlone && <p>No other row depends on it.</p>}
      <Counts title="These are deleted too:" counts={deleted} />
      <Counts title="The reference of these is cleared:" counts={cleared} />
      {isIncomplete && <p>And perhaps more: not all rows were looked at.</p>}
      {restricting.length > 0 && (
        <section class="note note-error">
          <h3>Rows that refer to it prevent the deletion:</h3>
          <ul>
            {restricting.map(({ property, key }) => (
              <li key={property}>
                <a href={rowHref(property, key)}>
                  the first of <Text text={property} />
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface CountsProps {
  readonly title: string;
  readonly counts: DeletionPreview["deleted"];
}

function Counts({ title, counts }: CountsProps): ComponentChild {
  if (counts.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {counts.map(({ property, count, isMore }) => (
          <li key={property}>
            {isMore ? "more than " : ""}
            {countText(count, "row")} of <Text text={property} />
          </li>
        ))}
      </ul>
    </section>
  );
}
