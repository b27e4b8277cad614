import { SingleBar } from "cli-progress";
import { guardCursor } from "./cursor-guard.js";
import {
  type Detail,
  details,
  hasEnd,
  labelOf,
  progressLineIn,
  progressWords,
  type ShownProgress,
  shareDone,
  shortLabelOf,
} from "./progress-text.js";
import type { Reporter } from "./reporter.js";
import { textWidth } from "./text-width.js";

/** A bar is as wide as fits between these, in columns. */
const barWidth = { least: 8, most: 40 } as const;

/** How a line with a bar is divided. */
interface Layout {
  readonly columns: number;
  readonly labelOf: (progress: ShownProgress) => string;
  readonly detail: Detail;
  /** Of the bar, in columns. */
  readonly width: number;
}

/** Shows progress as a bar on a terminal: one for each build, which stays when the next begins. */
export function barReporter(stream: NodeJS.WriteStream): Reporter {
  let bar: SingleBar | undefined;
  let releaseCursor: (() => void) | undefined;
  let shown: ShownProgress | undefined;
  let layout: Layout | undefined;
  const stop = () => {
    bar?.stop();
    releaseCursor?.();
    bar = undefined;
    releaseCursor = undefined;
    shown = undefined;
    layout = undefined;
  };
  const line = () => {
    if (shown === undefined) return "";
    const columns = (stream.columns || 80) - 1;
    if (!hasEnd(shown)) return progressLineIn(columns, shown);
    // One that is kept does not grow and shrink with the words beside it.
    const isKept = layout?.columns === columns && roomIn(layout, shown) >= layout.width;
    if (!isKept) layout = layoutFor(shown, columns);
    return layout === undefined ? progressLineIn(columns, shown) : barLine(shown, layout);
  };
  return {
    show(progress) {
      if (shown !== undefined && labelOf(shown) !== labelOf(progress)) stop();
      shown = progress;
      if (bar === undefined) {
        bar = new SingleBar({ stream, hideCursor: true, format: line });
        releaseCursor = guardCursor(stop);
        bar.start(progress.rowsTotal, progress.rowsDone);
      }
      bar.setTotal(progress.rowsTotal);
      bar.update(progress.rowsDone);
    },
    stop,
  };
}

/**
 * The layout in which there is room for a bar, after less important words were left out for it, and at last the names of the
 * indexes; undefined where there is none.
 */
function layoutFor(progress: ShownProgress, columns: number): Layout | undefined {
  for (const label of [labelOf, shortLabelOf]) {
    for (const detail of details) {
      const room = roomIn({ columns, labelOf: label, detail }, progress);
      if (room < barWidth.least) continue;
      return { columns, labelOf: label, detail, width: Math.min(room, barWidth.most) };
    }
  }
  return undefined;
}

/** The columns that the words of a line leave. They are counted as they will be at the end, so that the bar keeps its width. */
function roomIn(layout: Omit<Layout, "width">, progress: ShownProgress): number {
  const atTheEnd = { ...progress, rowsDone: progress.rowsTotal };
  const words = [layout.labelOf(progress), ...progressWords(atTheEnd, layout.detail)];
  return layout.columns - textWidth(words.join("  ")) - 2;
}

function barLine(progress: ShownProgress, { labelOf, detail, width }: Layout): string {
  const full = Math.floor(shareDone(progress.rowsDone, progress.rowsTotal) * width);
  const bar = `${"█".repeat(full)}${"░".repeat(width - full)}`;
  const colored = process.env.NO_COLOR ? bar : cyan(bar);
  return [labelOf(progress), colored, ...progressWords(progress, detail)].join("  ").trimEnd();
}

/** The stream is known to be a terminal: `util.styleText` would look at another one. */
function cyan(text: string): string {
  return `\u001b[36m${text}\u001b[39m`;
}
