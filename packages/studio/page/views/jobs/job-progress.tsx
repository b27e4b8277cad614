import type { ComponentChild } from "preact";
import type { Job, JobProgress as Progress } from "../../../src/protocol/protocol.js";
import { ErrorNote } from "../../parts/error-note.js";
import { Text } from "../../values/text.js";

/** Shows how far a job is, or how it ended. */
export function JobProgress({ job }: { job: Job }): ComponentChild {
  const isRunning = job.state === "running" || job.state === "stopping";
  return (
    <section class="job" aria-label="Progress">
      {isRunning && <RunningProgress job={job} />}
      {!isRunning && (
        <p class="note" role="status" data-testid="outcome">
          <strong>{names[job.kind]}</strong>:{" "}
          <Text text={job.outcome ?? (job.state === "failed" ? "failed" : "ended")} />
        </p>
      )}
      {job.error !== null && <ErrorNote error={job.error} />}
    </section>
  );
}

const names: Readonly<Record<Job["kind"], string>> = {
  migrate: "Migration",
  verify: "Verification",
  repair: "Repair",
};

function RunningProgress({ job }: { job: Job }): ComponentChild {
  const { progress, kind, state } = job;
  const done = progress?.rowsDone ?? 0;
  const total = Math.max(progress?.rowsTotal ?? 0, done);
  return (
    <>
      <progress aria-label={names[kind]} {...(total > 0 && { max: total, value: done })} />
      <p class="job-text">
        {state === "stopping" && <strong>Stopping after this batch. </strong>}
        {progress === null ? "Starting…" : <Text text={progressText(progress)} />}
      </p>
    </>
  );
}

function progressText(progress: Progress): string {
  const { model, phase, rowsDone, rowsTotal, rowsPerSecond, secondsLeft } = progress;
  const of = rowsTotal >= rowsDone && rowsTotal > 0 ? ` of ${numberText(rowsTotal)}` : "";
  const texts = [
    `${model}, ${phase}: ${numberText(rowsDone)}${of} rows`,
    `${numberText(Math.round(rowsPerSecond))} rows/s`,
    secondsLeft === null ? null : `${timeText(secondsLeft)} left`,
  ];
  return texts.filter((text) => text !== null).join(", ");
}

function numberText(count: number): string {
  return count.toLocaleString("en");
}

function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.ceil(minutes / 60)} h`;
}
