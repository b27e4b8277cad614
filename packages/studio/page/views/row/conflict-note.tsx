import type { ComponentChild } from "preact";
import type { VersionedRow } from "../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { useCall } from "../../api/use-call.js";
import { keyOf } from "../../navigation/links.js";
import { ErrorNote } from "../../parts/error-note.js";
import { Text } from "../../values/text.js";
import { Value } from "../../values/value.js";
import { differs, draftOf, type RowDraft } from "./row-draft.js";

interface Props {
  readonly model: ModelInfo;
  /** The row as it was when the form was opened. */
  readonly base: VersionedRow;
  readonly draft: RowDraft;
  readonly onAdopt: (current: VersionedRow) => void;
}

/** Shows what somebody else changed while the form was open. */
export function ConflictNote({ model, base, draft, onAdopt }: Props): ComponentChild {
  const current = useCall("row", { property: model.property, key: keyOf(model, base.row) });
  const now = current.data;
  return (
    <section class="note note-error" role="alert" aria-label="Conflict">
      <p>
        <strong>This row has changed meanwhile.</strong>
      </p>
      {current.error !== null && <ErrorNote error={current.error} onRetry={current.reload} />}
      {current.isLoading && <p>Reading the current row…</p>}
      {!current.isLoading && current.error === null && now === null && <p>It was deleted.</p>}
      {now !== null && (
        <>
          <Changes model={model} base={base} now={now} draft={draft} />
          <button type="button" onClick={() => onAdopt(now)}>
            Load the current row and keep my edits
          </button>
        </>
      )}
    </section>
  );
}

interface ChangesProps {
  readonly model: ModelInfo;
  readonly base: VersionedRow;
  readonly now: VersionedRow;
  readonly draft: RowDraft;
}

function Changes({ model, base, now, draft }: ChangesProps): ComponentChild {
  const before = draftOf(model, base.row);
  const after = draftOf(model, now.row);
  const changed = model.fields.filter(({ name }) => differs(before[name], after[name]));
  return (
    <ul>
      {changed.map(({ name }) => (
        <li key={name}>
          <strong>
            <Text text={name} />
          </strong>
          : <Value value={base.row[name]} /> → <Value value={now.row[name]} />
          {differs(draft[name], before[name]) && " (you have edited it too)"}
        </li>
      ))}
    </ul>
  );
}
