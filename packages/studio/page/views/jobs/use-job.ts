import { useCallback, useEffect, useState } from "preact/hooks";
import type { Job } from "../../../src/protocol/maintenance.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";

export interface RunningJob {
  /** The last job of the studio, or null if there was none. */
  readonly job: Job | null;
  readonly error: StudioError | null;
  readonly isRunning: boolean;
  /** Starts a job, and then asks how far it is until it ends. */
  readonly start: (begin: () => Promise<Job | null>) => void;
  readonly stop: () => void;
}

const pollTime = 250;

/** Returns the job of the studio, and asks how far it is while it runs. */
export function useJob(onEnd: () => void): RunningJob {
  const [job, setJob] = useState<Job | null>(null);
  const [error, setError] = useState<StudioError | null>(null);
  const isRunning = job !== null && (job.state === "running" || job.state === "stopping");
  const failed = useCallback((failure: unknown) => setError(errorDetails(failure)), []);

  useEffect(() => {
    call("job", null).then(setJob, failed);
  }, [failed]);

  const [attempt, setAttempt] = useState(0);
  // Each answer starts the next timer, also one that failed.
  useEffect(() => {
    if (!isRunning) return undefined;
    const ask = () => {
      call("job", null).then(
        (next) => {
          setError(null);
          setJob(next);
          if (next === null || next.state === "ended" || next.state === "failed") onEnd();
        },
        (failure) => {
          failed(failure);
          setAttempt((last) => last + 1);
        },
      );
    };
    const timer = setTimeout(ask, pollTime);
    return () => clearTimeout(timer);
  }, [isRunning, job, attempt]);

  const start = useCallback(
    (begin: () => Promise<Job | null>) => {
      setError(null);
      begin().then((next) => {
        setJob(next);
        if (next?.state === "ended" || next?.state === "failed") onEnd();
      }, failed);
    },
    [failed, onEnd],
  );
  const stop = useCallback(() => {
    call("stop", null).then((next) => next !== null && setJob(next), failed);
  }, [failed]);
  return { job, error, isRunning, start, stop };
}
