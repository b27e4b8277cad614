import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { VersionedRow } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { FieldInfo, ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails, plainError } from "../../api/call-error.js";
import { keyOf } from "../../navigation/links.js";
import { referencesOf } from "../../navigation/references.js";
import { ErrorNote } from "../../parts/error-note.js";
import { PickButton } from "../pick/pick-button.js";
import { ConflictNote } from "./conflict-note.js";
import { FieldInput } from "./field-input.js";
import { differs, draftData, draftOf, draftsOf, draftValue, type RowDraft } from "./row-draft.js";

export interface RowFormProps {
  readonly model: ModelInfo;
  /** The row to edit, or null for a new one. */
  readonly existing: VersionedRow | null;
  readonly fields: readonly FieldInfo[];
  readonly onClose: () => void;
  readonly onSaved: (now: VersionedRow) => void;
}

/** Shows a form for fields of a row. It sends only the fields that were changed. */
export function RowForm({
  model,
  existing,
  fields,
  onClose,
  onSaved,
}: RowFormProps): ComponentChild {
  const [base, setBase] = useState(existing);
  const [draft, setDraft] = useState(() => draftOf(model, existing?.row ?? null));
  const [error, setError] = useState<StudioError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const baseDraft = base === null ? null : draftOf(model, base.row);

  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);

  const submit = () => {
    if (isBusy) return;
    const read = draftData(model, draft, baseDraft);
    if ("issues" in read) {
      setError({ ...plainError("Some values cannot be read."), issues: read.issues });
      return;
    }
    if (base !== null && Object.keys(read.data).length === 0) {
      setError(plainError("Nothing has changed."));
      return;
    }
    setBusy(true);
    setError(null);
    const { property } = model;
    const saved =
      base === null
        ? call("create", { property, data: read.data })
        : call("update", {
            property,
            key: keyOf(model, base.row),
            data: read.data,
            versionstamp: base.versionstamp,
          });
    saved.then(onSaved, (failure) => {
      setError(errorDetails(failure));
      setBusy(false);
    });
  };

  const adopt = (current: VersionedRow) => {
    setDraft((last) => merged(model, last, baseDraft, current));
    setBase(current);
    setError(null);
  };
  const references = referencesOf(model);
  const pickerOf = (name: string) => {
    const relation = references.get(name);
    if (relation === undefined) return null;
    return (
      <PickButton
        relation={relation}
        field={name}
        knownValue={(field) => draftValue(model, draft, field)}
        onPick={(values) => setDraft((last) => ({ ...last, ...draftsOf(model, values) }))}
      />
    );
  };
  const isConflict = error?.code === "KW_VERSION_CONFLICT" && base !== null;
  return (
    <form
      class="form"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {isConflict && <ConflictNote model={model} base={base} draft={draft} onAdopt={adopt} />}
      {error !== null && !isConflict && <ErrorNote error={withoutFields(error, model)} />}
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          draft={draft[field.name] ?? { state: "absent", text: "" }}
          isNew={existing === null}
          isFixed={existing !== null && model.primaryKey.includes(field.name)}
          issues={issuesOf(error, field.name)}
          onChange={(next) => setDraft((last) => ({ ...last, [field.name]: next }))}
          picker={pickerOf(field.name)}
        />
      ))}
      <footer class="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={isBusy}>
          {existing === null ? "Create" : "Save"}
        </button>
      </footer>
    </form>
  );
}

/** Keeps what was edited, and takes the other fields from the current row. */
function merged(
  model: ModelInfo,
  draft: RowDraft,
  base: RowDraft | null,
  current: VersionedRow,
): RowDraft {
  const edited = Object.entries(draft).filter(([name, each]) => differs(each, base?.[name]));
  return { ...draftOf(model, current.row), ...Object.fromEntries(edited) };
}

function issuesOf(error: StudioError | null, name: string): string[] {
  if (error?.owner?.fields.includes(name)) return ["Another row has this value."];
  const issues = error?.issues.filter(({ path }) => String(path[0]) === name) ?? [];
  return issues.map(({ path, message }) => {
    const inner = path.slice(1).join(".");
    return inner === "" ? message : `${inner}: ${message}`;
  });
}

/** The messages of fields are next to the fields, so that the note has only the others. */
function withoutFields(error: StudioError, model: ModelInfo): StudioError {
  const others = error.issues.filter(
    ({ path }) => !model.fields.some(({ name }) => name === String(path[0])),
  );
  if (others.length === 0) return error;
  const lines = others.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  return { ...error, message: [error.message, ...lines].join("\n") };
}
