import type { ComponentChild } from "preact";
import type { Job, JobProgress as Progress } from "../../../src/protocol/protocol.js";
import { ErrorNote } from "../../parts/error-note.js";
import { bytesText } from "../../values/size-text.js";
import { Text } from "../../values/text.js";

interface Props {
  readonly job: Job;
  /** What to do next, by outcome. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Shows how far a job is, or how it ended. */
export function JobProgress({ job, texts }: Props): ComponentChild {
  const advice = texts[job.outcome ?? ""];
  const isRunning = job.state === "running" || job.state === "stopping";
  return (
    <section class="job" aria-label="Progress">
      {isRunning && <RunningProgress job={job} />}
      {!isRunning && (
        <p class="note" role="status" data-testid="outcome">
          <strong>{names[job.kind]}</strong>:{" "}
          <Text text={(job.outcome ?? job.state).replaceAll("-", " ")} />
          {advice !== undefined && `. ${advice}`}
        </p>
      )}
      {job.error !== null && <ErrorNote error={job.error} />}
    </section>
  );
}

const names: Readonly<Record<Job["kind"], string>> = {
  migrate: "Migration",
  try: "Trial",
  verify: "Verification",
  repair: "Repair",
  files: "Check of the files",
};

function RunningProgress({ job }: { job: Job }): ComponentChild {
  const { progress, kind, state } = job;
  const done = progress?.rowsDone ?? 0;
  const expected = progress?.rowsTotal ?? 0;
  // A trial does not know how many rows there are.
  const total = expected === 0 ? 0 : Math.max(expected, done);
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
  if (progress.phase === "checking") return checkText(progress);
  const { model, phase, rowsDone, rowsTotal, rowsPerSecond, secondsLeft } = progress;
  const of = rowsTotal >= rowsDone && rowsTotal > 0 ? ` of ${numberText(rowsTotal)}` : "";
  const texts = [
    `${model}, ${phase}: ${numberText(rowsDone)}${of} rows`,
    `${numberText(Math.round(rowsPerSecond))} rows/s`,
    secondsLeft === null ? null : `${timeText(secondsLeft)} left`,
  ];
  return texts.filter((text) => text !== null).join(", ");
}

function checkText({ rowsDone, rowsTotal, rowsPerSecond }: Progress): string {
  return `${bytesText(rowsDone)} of ${bytesText(rowsTotal)}, ${bytesText(rowsPerSecond)}/s`;
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
