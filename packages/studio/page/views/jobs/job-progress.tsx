import type { ComponentChild } from "preact";
import type { Job, JobProgress as Progress } from "../../../src/protocol/maintenance.js";
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
  // A trial does not know how many rows there are.
  const { done: value = 0, total: max = 0 } = progress ?? {};
  return (
    <>
      <progress aria-label={names[kind]} {...(max > 0 && { max, value })} />
      <p class="job-text">
        {state === "stopping" && <strong>Stopping after this batch. </strong>}
        {progress === null ? "Starting…" : <Text text={progressText(progress)} />}
      </p>
    </>
  );
}

function progressText(progress: Progress): string {
  if (progress.phase === "checking") return checkText(progress);
  const { model, phase, done, total, perSecond } = progress;
  const of = total === undefined ? "" : ` of ${numberText(total)}`;
  const isTimeKnown = total !== undefined && perSecond > 0;
  const texts = [
    `${model}, ${phase}: ${numberText(done)}${of} rows`,
    `${numberText(Math.round(perSecond))} rows/s`,
    ...(isTimeKnown ? [`${timeText((total - done) / perSecond)} left`] : []),
  ];
  return texts.join(", ");
}

function checkText({ done, total = done, perSecond }: Progress): string {
  return `${bytesText(done)} of ${bytesText(total)}, ${bytesText(perSecond)}/s`;
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
