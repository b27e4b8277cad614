import type { FileCheckProgress } from "@keywright/core";
import { reporterFor } from "../../progress/reporter-for.js";

export interface FileProgressReporter {
  readonly onProgress: (progress: FileCheckProgress) => void;
  readonly stop: () => void;
}

/** Shows how many megabytes of a database's files were read. */
export function fileProgress(stream: NodeJS.WriteStream, label: string): FileProgressReporter {
  const reporter = reporterFor(stream);
  const startedAt = performance.now();
  return {
    onProgress: ({ bytes, bytesTotal }) => {
      const done = megabytes(bytes);
      const total = megabytes(bytesTotal);
      const seconds = (performance.now() - startedAt) / 1000;
      const rate = seconds > 0 ? done / seconds : 0;
      reporter.show({
        model: label,
        indexes: [],
        phase: "building",
        unit: "MB",
        rowsDone: done,
        rowsTotal: total,
        rowsPerSecond: rate,
        secondsLeft: rate > 0 ? (total - done) / rate : undefined,
      });
    },
    stop: reporter.stop,
  };
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
