import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { MigrationState } from "../../../src/protocol/maintenance.js";
import { useStudio } from "../../navigation/studio-context.js";
import type { RunningJob } from "../jobs/use-job.js";
import { RollbackDialog } from "./rollback-dialog.js";

interface Props {
  readonly plan: MigrationState;
  readonly running: RunningJob;
  readonly accepted: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
  readonly onTry: () => void;
  readonly onRun: (accept: readonly string[], acceptFailures: boolean) => void;
}

/** The buttons that try, run and pause a plan. Going back is asked for. */
export function RunTools(props: Props): ComponentChild {
  const { plan, running, accepted, dropped, onTry, onRun } = props;
  const { isReadOnly } = useStudio();
  const [isAsking, setAsking] = useState(false);
  const [isForced, setForced] = useState(false);
  const { job, isRunning } = running;
  if (isRunning) {
    return (
      <div class="tools">
        <button type="button" disabled={job?.state === "stopping"} onClick={running.stop}>
          Pause
        </button>
      </div>
    );
  }
  const { steps } = plan;
  const goesBack = plan.goesBack.length > 0;
  const isBlocked = steps.some(({ blocked }) => blocked !== null);
  const canRun = (steps.length > 0 || dropped.size > 0) && !isBlocked;
  const isPaused = job?.kind === "migrate" && job.outcome === "stopped";
  const mayFail = job !== null && job.outcome === "would-fail";
  const rollBack = () => {
    const breaking = steps.filter((step) => step.class === "breaking");
    setAsking(false);
    onRun(
      breaking.map(({ id }) => id),
      isForced,
    );
  };
  return (
    <div class="tools">
      {!isReadOnly && goesBack && (
        <button type="button" class="danger" disabled={!canRun} onClick={() => setAsking(true)}>
          {isPaused ? "Resume rollback" : "Roll back"}
        </button>
      )}
      {!isReadOnly && !goesBack && (
        <button
          type="button"
          class="primary"
          disabled={!canRun}
          onClick={() => onRun([...accepted], isForced)}
        >
          {isPaused ? "Resume" : "Run"}
        </button>
      )}
      {steps.length > 0 && !isBlocked && (
        <button type="button" onClick={onTry}>
          Try on all rows
        </button>
      )}
      {!isReadOnly && mayFail && (
        <label class="check">
          <input
            type="checkbox"
            checked={isForced}
            onChange={(event) => setForced(event.currentTarget.checked)}
          />
          <span>Run although rows fail</span>
        </label>
      )}
      {isAsking && (
        <RollbackDialog
          plan={plan}
          isForced={isForced}
          onClose={() => setAsking(false)}
          onAccept={rollBack}
        />
      )}
    </div>
  );
}
