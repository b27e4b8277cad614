import type { CopyProgress } from "@keywright/core";
import { reporterFor } from "../../progress/reporter-for.js";

export interface CopyProgressReporter {
  readonly onProgress: (progress: CopyProgress) => void;
  readonly stop: () => void;
}

/** Shows a bar on a terminal, and elsewhere at most one line per second. */
export function copyProgress(stream: NodeJS.WriteStream): CopyProgressReporter {
  const reporter = reporterFor(stream);
  const startedAt = performance.now();
  let before: number | undefined;
  let verifyingSince: number | undefined;
  return {
    onProgress: ({ entries, total, verified, resumed }) => {
      before ??= resumed ? entries : 0;
      const isVerifying = verified > 0;
      if (isVerifying) verifyingSince ??= performance.now();
      const seconds = (performance.now() - (verifyingSince ?? startedAt)) / 1000;
      const done = isVerifying ? verified : entries;
      const rate = seconds > 0 ? (isVerifying ? verified : entries - before) / seconds : 0;
      reporter.show({
        model: "copy",
        indexes: [],
        phase: isVerifying ? "verifying" : "building",
        unit: "entries",
        rowsDone: done,
        rowsTotal: Math.max(total, done),
        rowsPerSecond: rate,
        secondsLeft: rate === 0 ? undefined : Math.max(total - done, 0) / rate,
      });
    },
    stop: reporter.stop,
  };
}
