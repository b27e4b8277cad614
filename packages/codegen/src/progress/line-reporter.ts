import { labelOf, progressLine, type ShownProgress } from "./progress-text.js";
import type { Reporter } from "./reporter.js";

const interval = 1000;

/** Writes the first line at once, then one per second, and the last line of each build. */
export function lineReporter(stream: NodeJS.WritableStream): Reporter {
  let lastLineAt = Number.NEGATIVE_INFINITY;
  let pending: ShownProgress | undefined;
  const write = (progress: ShownProgress) => {
    stream.write(`${progressLine(progress)}\n`);
    lastLineAt = performance.now();
    pending = undefined;
  };
  const writePending = () => {
    if (pending !== undefined) write(pending);
  };
  return {
    show(progress) {
      const isNextBuild = pending !== undefined && labelOf(pending) !== labelOf(progress);
      if (isNextBuild) writePending();
      if (performance.now() - lastLineAt >= interval) write(progress);
      else pending = progress;
    },
    stop: writePending,
  };
}
