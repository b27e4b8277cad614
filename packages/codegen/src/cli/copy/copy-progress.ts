import type { CopyProgress } from "@keywright/core";
import { reporterFor } from "../../progress/reporter-for.js";

export interface CopyProgressReporter {
  /** Without a total, the number of copied entries is shown instead of a bar. */
  readonly setTotal: (entries: number | undefined) => void;
  readonly onProgress: (progress: CopyProgress) => void;
  readonly stop: () => void;
}

/** Shows a bar on a terminal, and elsewhere at most one line per second. */
export function copyProgress(stream: NodeJS.WriteStream): CopyProgressReporter {
  const reporter = reporterFor(stream);
  const startedAt = performance.now();
  let total: number | undefined;
  let before: number | undefined;
  return {
    setTotal: (entries) => {
      total = entries;
    },
    onProgress: ({ entries, resumed }) => {
      before ??= resumed ? entries : 0;
      const seconds = (performance.now() - startedAt) / 1000;
      const rate = seconds > 0 ? (entries - before) / seconds : 0;
      const left = total === undefined ? undefined : Math.max(total - entries, 0);
      reporter.show({
        model: "copy",
        indexes: [],
        phase: "building",
        unit: "entries",
        rowsDone: entries,
        rowsTotal: Math.max(total ?? 0, entries),
        rowsPerSecond: rate,
        secondsLeft: left === undefined || rate === 0 ? undefined : left / rate,
      });
    },
    stop: reporter.stop,
  };
}
