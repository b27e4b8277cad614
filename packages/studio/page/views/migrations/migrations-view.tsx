import type { ComponentChild } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { MigrationState } from "../../../src/protocol/protocol.js";
import { call } from "../../api/call.js";
import { useCall } from "../../api/use-call.js";
import { useStudio } from "../../navigation/studio-context.js";
import { ErrorNote } from "../../parts/error-note.js";
import { Text } from "../../values/text.js";
import { JobProgress } from "../jobs/job-progress.js";
import { useJob } from "../jobs/use-job.js";
import { DatabaseOnly } from "./database-only.js";
import { FailedRows } from "./failed-rows.js";
import { IndexStates } from "./index-states.js";
import { PlanSteps } from "./plan-steps.js";

/** Shows what a migration would do, runs it, and shows the states of the indexes. */
export function MigrationsView(): ComponentChild {
  const { isReadOnly } = useStudio();
  const state = useCall("migration", null);
  const { reload } = state;
  const running = useJob(reload);
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  const [dropped, setDropped] = useState<ReadonlySet<string>>(new Set());
  const { job, isRunning } = running;
  const run = () => {
    const input = { accept: [...accepted], dropModels: [...dropped] };
    running.start(() => call("migrate", input));
  };
  const toggle = useCallback((change: Change, id: string) => {
    change((last) => {
      const next = new Set(last);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);

  const plan = state.data;
  const isPaused = job?.kind === "migrate" && job.outcome === "stopped";
  return (
    <section class="page">
      <h1>Migrations</h1>
      {state.error !== null && <ErrorNote error={state.error} onRetry={reload} />}
      {state.isLoading && plan === null && <p class="muted">Reading the plan…</p>}
      {plan !== null && (
        <>
          <Runner runner={plan.runner} />
          <h2>Plan</h2>
          <PlanSteps
            steps={plan.steps}
            accepted={accepted}
            isFixed={isReadOnly || isRunning}
            onToggle={(id) => toggle(setAccepted, id)}
          />
          <DatabaseOnly
            models={plan.databaseOnly}
            dropped={dropped}
            isFixed={isReadOnly || isRunning}
            onToggle={(model) => toggle(setDropped, model)}
          />
        </>
      )}
      {!isReadOnly && (
        <div class="tools">
          {!isRunning && (
            <button type="button" class="primary" disabled={!hasWork(plan, dropped)} onClick={run}>
              {isPaused ? "Resume" : "Run"}
            </button>
          )}
          {isRunning && (
            <button type="button" disabled={job?.state === "stopping"} onClick={running.stop}>
              Pause
            </button>
          )}
        </div>
      )}
      {running.error !== null && <ErrorNote error={running.error} />}
      {job !== null && (isRunning || job.kind === "migrate") && <JobProgress job={job} />}
      {plan !== null && <FailedRows models={plan.models} />}
      {plan !== null && <IndexStates models={plan.models} />}
    </section>
  );
}

type Change = (update: (last: ReadonlySet<string>) => ReadonlySet<string>) => void;

function hasWork(plan: MigrationState | null, dropped: ReadonlySet<string>): boolean {
  return plan !== null && (plan.steps.length > 0 || dropped.size > 0);
}

function Runner({ runner }: { runner: MigrationState["runner"] }): ComponentChild {
  if (runner === null) return null;
  return (
    <p class="note">
      {runner.isAlive ? "A migration runs on " : "A migration did not end properly on "}
      <strong>
        <Text text={runner.host} />
      </strong>{" "}
      since {runner.since.toISOString()}.
    </p>
  );
}
