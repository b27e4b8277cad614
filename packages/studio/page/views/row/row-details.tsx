import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Row, VersionedRow } from "../../../src/protocol/rows.js";
import type { KeyPart, ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { useCall } from "../../api/use-call.js";
import { keyOf, keysHref, rowHref } from "../../navigation/links.js";
import { useStudio } from "../../navigation/studio-context.js";
import { CopyButton } from "../../parts/copy-button.js";
import { ErrorNote } from "../../parts/error-note.js";
import { keyText } from "../../values/key-text.js";
import { Text } from "../../values/text.js";
import { FullValue } from "../../values/value.js";
import { valueText } from "../../values/value-text.js";
import { DeleteDialog } from "./delete-dialog.js";
import { FormDialog } from "./form-dialog.js";
import { RelationLinks } from "./relation-links.js";
import { RestoreDialog } from "./restore-dialog.js";
import { RowHistory } from "./row-history.js";

interface Props {
  readonly model: ModelInfo;
  readonly rowKey: Row;
  readonly stamp: number;
  readonly level: "h1" | "h2";
  readonly onChanged?: (now: VersionedRow | null) => void;
}

interface OpenDialog {
  readonly kind: "edit" | "delete" | "restore";
  readonly row: VersionedRow;
}

/** Shows all fields of a row, its relations, and what can be done with it. */
export function RowDetails({ model, rowKey, stamp, level, onChanged }: Props): ComponentChild {
  const { isReadOnly, hasLog } = useStudio();
  const read = useCall("row", { property: model.property, key: rowKey });
  // A dialog keeps the row that it was opened for, whatever becomes of it.
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const { reload } = read;
  // A new stamp means a changed row.
  useEffect(() => {
    if (stamp !== 0) reload();
  }, [stamp, reload]);

  const Heading = level;
  const title = model.primaryKey.map((field) => valueText(rowKey[field], 60)).join(", ");
  const key = [model.prefix, ...model.primaryKey.map((field) => rowKey[field])] as KeyPart[];
  const changed = (now: VersionedRow | null) => {
    setDialog(null);
    reload();
    onChanged?.(now);
  };
  const reloaded = () => {
    reload();
    call("row", { property: model.property, key: rowKey }).then(
      (now) => onChanged?.(now),
      () => undefined,
    );
  };
  const found = read.data;
  const isMarked = model.softDelete !== null && (found?.row[model.softDelete] ?? null) !== null;
  return (
    <>
      <Heading class="row-title">
        <span class="muted">
          <Text text={model.property} />
        </span>{" "}
        <Text text={title} />
      </Heading>
      {read.error !== null && <ErrorNote error={read.error} onRetry={reload} />}
      {read.isLoading && found === null && <p class="muted">Loading…</p>}
      {!read.isLoading && read.error === null && found === null && (
        <p class="note" role="status">
          This row does not exist, or it was deleted.
        </p>
      )}
      <div class="tools">
        {!isReadOnly && found !== null && !isMarked && (
          <>
            <button type="button" onClick={() => setDialog({ kind: "edit", row: found })}>
              Edit
            </button>
            <button
              type="button"
              class="danger"
              onClick={() => setDialog({ kind: "delete", row: found })}
            >
              Delete
            </button>
          </>
        )}
        {!isReadOnly && found !== null && isMarked && (
          <button type="button" onClick={() => setDialog({ kind: "restore", row: found })}>
            Restore
          </button>
        )}
        <CopyButton label="Copy key" text={keyText(key)} />
        {onChanged !== undefined && (
          <a href={rowHref(model.property, keyOf(model, rowKey))}>Open</a>
        )}
        <a href={keysHref([model.prefix])}>Keys</a>
      </div>
      {isMarked && (
        <p class="note" role="status">
          This row is marked as deleted.
        </p>
      )}
      {found !== null && (
        <>
          <Fields model={model} row={found.row} />
          <RelationLinks model={model} row={found.row} level={level === "h1" ? "h2" : "h3"} />
          <p class="muted versionstamp">
            Versionstamp <code>{found.versionstamp}</code>
          </p>
        </>
      )}
      {hasLog && (found !== null || !read.isLoading) && (
        <RowHistory
          model={model}
          rowKey={rowKey}
          current={found?.versionstamp ?? null}
          onRestored={reloaded}
        />
      )}
      {dialog?.kind === "edit" && (
        <FormDialog
          model={model}
          existing={dialog.row}
          onClose={() => setDialog(null)}
          onSaved={changed}
        />
      )}
      {dialog?.kind === "delete" && (
        <DeleteDialog
          model={model}
          existing={dialog.row}
          onClose={() => setDialog(null)}
          onDeleted={() => changed(null)}
        />
      )}
      {dialog?.kind === "restore" && (
        <RestoreDialog
          model={model}
          existing={dialog.row}
          onClose={() => setDialog(null)}
          onRestored={changed}
        />
      )}
    </>
  );
}

function Fields({ model, row }: { model: ModelInfo; row: Row }): ComponentChild {
  const known = model.fields.map(({ name }) => name);
  // A stored row can have fields that the schema does not know.
  const names = [...known, ...Object.keys(row).filter((name) => !known.includes(name))];
  return (
    <dl class="fields">
      {names.map((name) => (
        <div key={name}>
          <dt>
            <Text text={name} />
          </dt>
          <dd>
            <FullValue value={row[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
