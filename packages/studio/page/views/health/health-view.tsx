import type { ComponentChild } from "preact";
import { useCallback, useState } from "preact/hooks";
import { call } from "../../api/call.js";
import { useStudio } from "../../navigation/studio-context.js";
import { Dialog } from "../../parts/dialog.js";
import { ErrorNote } from "../../parts/error-note.js";
import { JobProgress } from "../jobs/job-progress.js";
import { useJob } from "../jobs/use-job.js";
import { DamageTable } from "./damage-table.js";
import { DanglingRows } from "./dangling-rows.js";

/** Shows whether the indexes agree with the rows, and which references lead nowhere. */
export function HealthView(): ComponentChild {
  const { isReadOnly } = useStudio();
  const [isAsking, setAsking] = useState(false);
  const nothing = useCallback(() => {}, []);
  const running = useJob(nothing);
  const { job, isRunning } = running;
  const start = (isRepair: boolean) => {
    setAsking(false);
    running.start(() => call("verify", { isRepair }));
  };
  const isOwn = job !== null && (job.kind === "verify" || job.kind === "repair");
  const isDamaged = isOwn && job.found.some(hasDamage);
  return (
    <section class="page">
      <h1>Health</h1>
      <h2>Indexes</h2>
      <p class="muted">
        A verification reads all rows and all entries of the indexes.
        {isReadOnly && " It stores its progress, so this studio, which is read-only, has none."}
      </p>
      <div class="tools">
        {!isReadOnly && !isRunning && (
          <button type="button" class="primary" onClick={() => start(false)}>
            Verify
          </button>
        )}
        {isRunning && (
          <button type="button" disabled={job?.state === "stopping"} onClick={running.stop}>
            Stop
          </button>
        )}
        {!isReadOnly && isDamaged && !isRunning && (
          <button type="button" class="danger" onClick={() => setAsking(true)}>
            Repair
          </button>
        )}
      </div>
      {running.error !== null && <ErrorNote error={running.error} />}
      {job !== null && (isRunning || isOwn) && <JobProgress job={job} texts={outcomeTexts} />}
      {isOwn && <DamageTable found={job.found} />}
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

/** What to do after a verification that ended this way. */
const outcomeTexts: Readonly<Record<string, string>> = {
  clean: "All entries match the rows.",
  repaired: "All entries match the rows.",
  stopped: "To check all rows, start again.",
  busy: "Nothing was done, because another run is active.",
};

function hasDamage(found: { missing: number; dangling: number; mismatched: number }): boolean {
  return found.missing + found.dangling + found.mismatched > 0;
}
