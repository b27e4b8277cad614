import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/call.js";
import { useCall } from "../../api/use-call.js";
import { useStudio } from "../../navigation/studio-context.js";
import { Dialog } from "../../parts/dialog.js";
import { ErrorNote } from "../../parts/error-note.js";
import { JobProgress } from "../jobs/job-progress.js";
import { useJob } from "../jobs/use-job.js";
import { DamageTable } from "./damage-table.js";
import { DanglingRows } from "./dangling-rows.js";
import { FileDamage, IntactFiles } from "./file-damage.js";

/**
 * Shows whether files are damaged, whether the indexes agree with the rows, and lost references.
 */
export function HealthView(): ComponentChild {
  const { isReadOnly, models } = useStudio();
  const [isAsking, setAsking] = useState(false);
  const damage = useCall("damage", null);
  const running = useJob(damage.reload);
  const { job, isRunning } = running;
  const start = (isRepair: boolean) => {
    setAsking(false);
    running.start(() => call("verify", { isRepair }));
  };
  const isOfIndexes = job !== null && (job.kind === "verify" || job.kind === "repair");
  const isOfFiles = job?.kind === "files";
  const isDamaged = isOfIndexes && job.found.some(hasDamage);
  const files = job?.files ?? null;
  const stop = (
    <button type="button" disabled={job?.state === "stopping"} onClick={running.stop}>
      Stop
    </button>
  );
  return (
    <section class="page">
      <h1>Health</h1>
      <h2>Files</h2>
      <p class="muted">
        A check reads all files of a database in a folder, and compares them with their checksums.
      </p>
      <div class="tools">
        {!isRunning && (
          <button type="button" onClick={() => running.start(() => call("checkFiles", null))}>
            Check files
          </button>
        )}
        {isRunning && isOfFiles && stop}
      </div>
      {isOfFiles && <JobProgress job={job} texts={outcomeTexts} />}
      <IntactFiles files={files} />
      <FileDamage damage={damage.data} files={files} />
      {models.length > 0 && (
        <>
          <h2>Indexes</h2>
          <p class="muted">
            A verification reads the files, all rows and all entries of the indexes.
            {isReadOnly && " It stores its progress, so this studio, which is read-only, has none."}
          </p>
          <div class="tools">
            {!isReadOnly && !isRunning && (
              <button type="button" class="primary" onClick={() => start(false)}>
                Verify
              </button>
            )}
            {isRunning && !isOfFiles && stop}
            {!isReadOnly && isDamaged && !isRunning && (
              <button type="button" class="danger" onClick={() => setAsking(true)}>
                Repair
              </button>
            )}
          </div>
        </>
      )}
      {running.error !== null && <ErrorNote error={running.error} />}
      {job !== null && !isOfFiles && (isRunning || isOfIndexes) && (
        <JobProgress job={job} texts={outcomeTexts} />
      )}
      {isOfIndexes && <DamageTable found={job.found} />}
      <DanglingRows />
      {isAsking && (
        <Dialog title="Repair the indexes?" onClose={() => setAsking(false)}>
          <p>
            Missing entries are written, and entries without a row or with wrong values are removed.
            Rows stay as they are.
          </p>
          <footer class="dialog-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={() => start(true)}>
              Repair
            </button>
          </footer>
        </Dialog>
      )}
    </section>
  );
}

/** What it means if a job ended this way. */
const outcomeTexts: Readonly<Record<string, string>> = {
  clean: "All entries match the rows.",
  repaired: "All entries match the rows.",
  stopped: "To check all rows, start again.",
  "damaged-files": "The indexes were not checked.",
  "no-files": "This database has no files that can be checked here.",
  busy: "Nothing was done, because another run is active.",
};

function hasDamage(found: { missing: number; dangling: number; mismatched: number }): boolean {
  return found.missing + found.dangling + found.mismatched > 0;
}
