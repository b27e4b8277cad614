import { barReporter } from "./bar-reporter.js";
import { lineReporter } from "./line-reporter.js";
import { hasTotal, type ShownProgress } from "./progress-text.js";
import type { ProgressReporter, Reporter } from "./reporter.js";

/**
 * Returns a reporter that shows a bar on a terminal, and lines elsewhere.
 *
 * @param shown adds to a progress what is shown of it.
 */
export function reporterFor<P>(
  stream: NodeJS.WriteStream = process.stderr,
  shown: (progress: P) => ShownProgress,
): ProgressReporter<P> {
  const canMoveCursor = stream.isTTY && process.env.TERM !== "dumb";
  const { show, stop } = withSecondPass(canMoveCursor ? barReporter(stream) : lineReporter(stream));
  return { onProgress: (progress) => show(shown(progress)), stop };
}

/** Shows a second pass separately from the first. A single bar would jump back. */
function withSecondPass(reporter: Reporter): Reporter {
  let previous: ShownProgress | undefined;
  return {
    show(progress) {
      const isSame = previous !== undefined && isSameWork(previous, progress);
      let isSecondLook = isSame && previous?.isSecondLook === true;
      if (previous !== undefined && isSame && goesBack(previous, progress)) {
        reporter.show({ ...previous, done: previous.total ?? previous.done });
        isSecondLook = true;
      }
      previous = isSecondLook ? { ...progress, isSecondLook } : progress;
      reporter.show(previous);
    },
    stop() {
      previous = undefined;
      reporter.stop();
    },
  };
}

function isSameWork(a: ShownProgress, b: ShownProgress): boolean {
  return a.phase === b.phase && a.model === b.model && `${a.indexes}` === `${b.indexes}`;
}

/** Without a known total, going back only means that the total has become known. */
function goesBack(previous: ShownProgress, progress: ShownProgress): boolean {
  const isKnown = hasTotal(previous) && hasTotal(progress);
  return progress.phase === "verifying" && isKnown && progress.done < previous.done;
}
