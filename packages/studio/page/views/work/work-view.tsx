import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { WorkState } from "../../../src/protocol/work.js";
import { watchWork } from "../../api/watch-work.js";
import type { Route } from "../../navigation/route.js";
import { ErrorNote } from "../../parts/error-note.js";
import { CronTable } from "./cron-table.js";
import { FailedJobs } from "./failed-jobs.js";
import { JobTable } from "./job-table.js";

/** Shows how many jobs are in each state, the failed ones of a name, and the crons. */
export function WorkView({ route }: { route: Route }): ComponentChild {
  const [state, setState] = useState<WorkState | null>(null);
  const [error, setError] = useState<StudioError | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setError(null);
    return watchWork(setState, setError);
  }, [attempt]);
  const name = route.params.get("failed");
  const chosen = state?.jobs.find((topic) => topic.name === name);
  return (
    <section class="page">
      <h1>Jobs and crons</h1>
      {error !== null && <ErrorNote error={error} onRetry={() => setAttempt((last) => last + 1)} />}
      {state === null && error === null && <p class="muted">Loading…</p>}
      {state !== null && (
        <>
          <h2>Jobs</h2>
          {state.jobs.length === 0 ? (
            <p class="muted">The database has no jobs.</p>
          ) : (
            <JobTable topics={state.jobs} />
          )}
          {chosen !== undefined && (
            <FailedJobs key={chosen.name} name={chosen.name} count={chosen.failed} />
          )}
          <h2>Crons</h2>
          {state.crons.length === 0 ? (
            <p class="muted">No program has run a cron with this database.</p>
          ) : (
            <CronTable crons={state.crons} />
          )}
        </>
      )}
    </section>
  );
}
