import type { ComponentChild } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { Row, RowVersionInfo } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";
import { useStudio } from "../../navigation/studio-context.js";
import { Dialog } from "../../parts/dialog.js";
import { ErrorNote } from "../../parts/error-note.js";
import { CommitNote } from "../../values/commit-note.js";
import { Differences } from "../../values/differences.js";
import { MoreRows } from "../jobs/more-rows.js";
import { usePages } from "../jobs/use-pages.js";

interface Props {
  readonly model: ModelInfo;
  readonly rowKey: Row;
  /** The versionstamp that the row has now, or null if there is none. */
  readonly current: string | null;
  readonly onRestored: () => void;
}

/** Shows the versions of a row in the log when it is opened. */
export function RowHistory(props: Props): ComponentChild {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      class="history"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>History</summary>
      {/* Another version means another history. */}
      {isOpen && <Versions key={props.current} {...props} />}
    </details>
  );
}

function Versions({ model, rowKey, current, onRestored }: Props): ComponentChild {
  const { isReadOnly } = useStudio();
  const [chosen, setChosen] = useState<RowVersionInfo | null>(null);
  const { property } = model;
  // The view that shows the row has another one for another key.
  const load = useCallback(
    (cursor: string | null) => call("history", { property, key: rowKey, cursor }),
    [property],
  );
  const pages = usePages(load);
  const { items } = pages;
  return (
    <>
      <ol class="commits" aria-label="Versions">
        {items.map((version, index) => {
          const { versionstamp, time, context, row } = version;
          const before = items[index + 1];
          const isRestorable =
            !isReadOnly && row !== null && time !== null && versionstamp !== current;
          return (
            <li key={versionstamp} class="card">
              <CommitNote versionstamp={versionstamp} time={time} context={context} />
              {row === null && <p>The row was deleted.</p>}
              {row !== null && (before !== undefined || !pages.hasMore) && (
                <Differences before={before?.row ?? null} after={row} />
              )}
              {isRestorable && (
                <div class="tools">
                  <button type="button" onClick={() => setChosen(version)}>
                    Restore this version
                  </button>
                </div>
              )}
            </li>
          );
        })}
      </ol>
      <MoreRows pages={pages} none="The log has no version of this row." />
      {chosen !== null && (
        <RestoreVersionDialog
          model={model}
          rowKey={rowKey}
          version={chosen}
          current={current}
          onClose={() => setChosen(null)}
          onRestored={onRestored}
        />
      )}
    </>
  );
}

interface DialogProps extends Props {
  readonly version: RowVersionInfo;
  readonly onClose: () => void;
}

function RestoreVersionDialog(props: DialogProps): ComponentChild {
  const { model, rowKey, version, current, onClose, onRestored } = props;
  const [error, setError] = useState<StudioError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const confirm = () => {
    setBusy(true);
    const { property } = model;
    const { versionstamp } = version;
    call("restoreVersion", { property, key: rowKey, versionstamp, ifVersion: current }).then(
      () => {
        onClose();
        onRestored();
      },
      (failure) => {
        setError(errorDetails(failure));
        setBusy(false);
      },
    );
  };
  return (
    <Dialog title="Restore this version?" onClose={onClose}>
      <CommitNote {...version} />
      <p>
        The row gets the values that it had then, as a new version. They are checked like those of a
        new row. If the row has changed since it was shown, nothing is written.
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
