import type { MigrationProgress } from "@keywright/orm";
import { SingleBar } from "cli-progress";
import { guardCursor } from "./cursor-guard.js";
import {
  details,
  hasEnd,
  labelOf,
  progressLine,
  progressWords,
  shareDone,
} from "./progress-text.js";
import type { Reporter } from "./reporter.js";

/** A bar is as wide as fits between these, in columns. */
const barWidth = { least: 8, most: 40 } as const;

/** Shows progress as a bar on a terminal: one for each build, which stays when the next begins. */
export function barReporter(stream: NodeJS.WriteStream): Reporter {
  let bar: SingleBar | undefined;
  let releaseCursor: (() => void) | undefined;
  let shown: MigrationProgress | undefined;
  const stop = () => {
    bar?.stop();
    releaseCursor?.();
    bar = undefined;
    releaseCursor = undefined;
    shown = undefined;
  };
  return {
    show(progress) {
      if (shown !== undefined && labelOf(shown) !== labelOf(progress)) stop();
      shown = progress;
      if (bar === undefined) {
        bar = new SingleBar({
          stream,
          hideCursor: true,
          format: () => (shown === undefined ? "" : barLine(shown, stream)),
        });
        releaseCursor = guardCursor(stop);
        bar.start(progress.rowsTotal, progress.rowsDone);
      }
      bar.setTotal(progress.rowsTotal);
      bar.update(progress.rowsDone);
    },
    stop,
  };
}

/** The line of a progress: with a bar where there is room for one, after less important words were left out for it. */
function barLine(progress: MigrationProgress, stream: NodeJS.WriteStream): string {
  const columns = (stream.columns || 80) - 1;
  if (!hasEnd(progress)) return progressLine(progress).slice(0, columns);
  const atTheEnd = { ...progress, rowsDone: progress.rowsTotal };
  for (const detail of details) {
    // Counted as it will be at the end, so that the bar keeps its width.
    const room = columns - progressWords(atTheEnd, detail).join("  ").length - 2;
    if (room < barWidth.least) continue;
    const width = Math.min(room, barWidth.most);
    const full = Math.floor(shareDone(progress.rowsDone, progress.rowsTotal) * width);
    const bar = `${"█".repeat(full)}${"░".repeat(width - full)}`;
    const [label = "", ...others] = progressWords(progress, detail);
    return [label, process.env.NO_COLOR ? bar : cyan(bar), ...others].join("  ").trimEnd();
  }
  return progressLine(progress).slice(0, columns);
}

/** The stream is known to be a terminal: `util.styleText` would look at another one. */
function cyan(text: string): string {
  return `\u001b[36m${text}\u001b[39m`;
}
