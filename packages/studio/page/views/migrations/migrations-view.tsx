import type { ComponentChild } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { MigrationState } from "../../../src/protocol/maintenance.js";
import { call } from "../../api/call.js";
import { useCall } from "../../api/use-call.js";
import { useStudio } from "../../navigation/studio-context.js";
import { ErrorNote } from "../../parts/error-note.js";
import { Text } from "../../values/text.js";
import { JobProgress } from "../jobs/job-progress.js";
import { useJob } from "../jobs/use-job.js";
import { DatabaseOnly } from "./database-only.js";
import { FailedRows } from "./failed-rows.js";
import { GoingBackNote, UndoMigrations } from "./going-back.js";
import { IndexStates } from "./index-states.js";
import { outcomeTexts } from "./outcome-text.js";
import { PlanSteps } from "./plan-steps.js";
import { RunTools } from "./run-tools.js";
import { TriedRows } from "./tried-rows.js";

/** Shows what a migration would do, runs it, and shows the states of the indexes. */
export function MigrationsView(): ComponentChild {
  const { isReadOnly } = useStudio();
  const state = useCall("migration", null);
  const { reload } = state;
  const running = useJob(reload);
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  const [dropped, setDropped] = useState<ReadonlySet<string>>(new Set());
  const { job, isRunning } = running;
  const toggle = useCallback((change: Change, id: string) => {
    change((last) => {
      const next = new Set(last);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);

  const plan = state.data;
  const isFixed = isReadOnly || isRunning;
  const isOwn = job !== null && (job.kind === "migrate" || job.kind === "try");
  return (
    <section class="page">
      <h1>Migrations</h1>
      {state.error !== null && <ErrorNote error={state.error} onRetry={reload} />}
      {state.isLoading && plan === null && <p class="muted">Reading the plan…</p>}
      {plan !== null && (
        <>
          <Runner runner={plan.runner} />
          <h2>Plan</h2>
          <GoingBackNote plan={plan} />
          <PlanSteps
            steps={plan.steps}
            accepted={accepted}
            // A rollback asks for all of them at once.
            isAccepting={plan.goesBack.length === 0}
            isFixed={isFixed}
            onToggle={(id) => toggle(setAccepted, id)}
          />
          {plan.warnings.map((warning) => (
            <p key={warning} class="note note-warn">
              <Text text={warning} />
            </p>
          ))}
          <DatabaseOnly
            models={plan.databaseOnly}
            dropped={dropped}
            isFixed={isFixed}
            onToggle={(model) => toggle(setDropped, model)}
          />
          <RunTools
            plan={plan}
            running={running}
            dropped={dropped}
            onTry={() => running.start(() => call("tryRows", null))}
            onRun={(accept, acceptFailures) => {
              const input = { accept, dropModels: [...dropped], acceptFailures };
              running.start(() => call("migrate", input));
            }}
            accepted={accepted}
          />
        </>
      )}
      {running.error !== null && <ErrorNote error={running.error} />}
      {job !== null && (isRunning || isOwn) && <JobProgress job={job} texts={outcomeTexts} />}
      {isOwn && !isRunning && <TriedRows tried={job.tried} />}
      {plan !== null && <FailedRows models={plan.models} />}
      {plan !== null && <UndoMigrations plan={plan} />}
      {plan !== null && <IndexStates models={plan.models} />}
    </section>
  );
}

type Change = (update: (last: ReadonlySet<string>) => ReadonlySet<string>) => void;

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
