import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Row } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { errorDetails } from "../../api/call-error.js";
import { keyId } from "../../navigation/links.js";
import { Dialog } from "../../parts/dialog.js";
import { ErrorNote } from "../../parts/error-note.js";
import { Text } from "../../values/text.js";
import { type FoundRows, findRows, labelOf } from "./find-rows.js";

interface Props {
  readonly model: ModelInfo;
  /** The values that the first fields of the row's key must have. */
  readonly fixed: Row;
  readonly onClose: () => void;
  readonly onPick: (row: Row) => void;
}

const pauseOfTyping = 150;

/** Lets a person choose a row by its name instead of typing its key. */
export function RowPicker({ model, fixed, onClose, onPick }: Props): ComponentChild {
  const [text, setText] = useState("");
  const [found, setFound] = useState<FoundRows | null>(null);
  const [error, setError] = useState<StudioError | null>(null);

  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      findRows(model, fixed, text).then(
        (rows) => isCurrent && setFound(rows),
        (failure) => isCurrent && setError(errorDetails(failure)),
      );
    }, pauseOfTyping);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [model, text]);

  return (
    <Dialog title={`Choose a row of ${model.property}`} onClose={onClose}>
      <input
        type="text"
        aria-label="Search"
        placeholder={model.titleField ?? "key"}
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Enter would submit a form around the dialog.
          if (event.key === "Enter") event.preventDefault();
        }}
      />
      {error !== null && <ErrorNote error={error} />}
      <ul class="picker" aria-label={`Rows of ${model.property}`} aria-busy={found === null}>
        {found?.rows.map((row) => (
          <li key={keyId(model, row)}>
            <button type="button" class="plain picker-row" onClick={() => onPick(row)}>
              <Text text={labelOf(model, row)} />
            </button>
          </li>
        ))}
      </ul>
      {found?.rows.length === 0 && <p class="muted">No row was found.</p>}
      {found !== null && found.remark !== null && <p class="muted">{found.remark}</p>}
    </Dialog>
  );
}
