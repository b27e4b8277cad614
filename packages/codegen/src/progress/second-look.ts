import { hasEnd, type ShownProgress } from "./progress-text.js";
import type { Reporter } from "./reporter.js";

/**
 * Shows a second look at the entries apart from the first. `migrate` reports it from its start, when the first has come to
 * its end: a bar would jump back.
 */
export function tellSecondLooks(reporter: Reporter): Reporter {
  let before: ShownProgress | undefined;
  return {
    show(progress) {
      const isSame = before !== undefined && isSameWork(before, progress);
      let isSecondLook = isSame && before?.isSecondLook === true;
      if (before !== undefined && isSame && goesBack(before, progress)) {
        reporter.show({ ...before, rowsDone: before.rowsTotal, secondsLeft: 0 });
        isSecondLook = true;
      }
      before = isSecondLook ? { ...progress, isSecondLook } : progress;
      reporter.show(before);
    },
    stop() {
      before = undefined;
      reporter.stop();
    },
  };
}

function isSameWork(a: ShownProgress, b: ShownProgress): boolean {
  return a.phase === b.phase && a.model === b.model && `${a.indexes}` === `${b.indexes}`;
}

/** One whose total was not known goes back when it is. */
function goesBack(before: ShownProgress, progress: ShownProgress): boolean {
  const isKnown = hasEnd(before) && hasEnd(progress);
  return progress.phase === "verifying" && isKnown && progress.rowsDone < before.rowsDone;
}
