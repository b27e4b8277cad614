import { SingleBar } from "cli-progress";
import {
  type Detail,
  details,
  hasTotal,
  labelOf,
  progressLineIn,
  progressWords,
  type ShownProgress,
  shareDone,
  shortLabelOf,
} from "./progress-text.js";
import type { Reporter } from "./reporter.js";
import { textWidth } from "./text-width.js";

const barWidth = { min: 8, max: 40 } as const;

type WithTotal = ShownProgress & { readonly total: number };

interface Layout {
  readonly columns: number;
  readonly labelOf: (progress: ShownProgress) => string;
  readonly detail: Detail;
  readonly width: number;
}

/** Each build has its own bar, which stays visible when the next build begins. */
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
    if (!hasTotal(shown)) return progressLineIn(columns, shown);
    // The layout is kept as long as it fits, so that the bar does not change its width with the
    // words next to it.
    const stillFits = layout?.columns === columns && roomIn(layout, shown) >= layout.width;
    if (!stillFits) layout = layoutFor(shown, columns);
    return layout === undefined ? progressLineIn(columns, shown) : barLine(shown, layout);
  };
  return {
    show(progress) {
      if (shown !== undefined && labelOf(shown) !== labelOf(progress)) stop();
      shown = progress;
      if (bar === undefined) {
        bar = new SingleBar({ stream, hideCursor: true, format: line });
        releaseCursor = guardCursor(stop);
        bar.start(progress.total ?? progress.done, progress.done);
      }
      bar.setTotal(progress.total ?? progress.done);
      bar.update(progress.done);
    },
    stop,
  };
}

/** Leaves out the less important words first, the names of the indexes last. */
function layoutFor(progress: WithTotal, columns: number): Layout | undefined {
  for (const label of [labelOf, shortLabelOf]) {
    for (const detail of details) {
      const room = roomIn({ columns, labelOf: label, detail }, progress);
      if (room < barWidth.min) continue;
      return { columns, labelOf: label, detail, width: Math.min(room, barWidth.max) };
    }
  }
  return undefined;
}

function roomIn(layout: Omit<Layout, "width">, progress: WithTotal): number {
  const words = [layout.labelOf(progress), ...progressWords(progress, layout.detail)];
  return layout.columns - textWidth(words.join("  ")) - 2;
}

function barLine(progress: WithTotal, { labelOf, detail, width }: Layout): string {
  const full = Math.floor(shareDone(progress) * width);
  const bar = `${"█".repeat(full)}${"░".repeat(width - full)}`;
  const colored = process.env.NO_COLOR ? bar : cyan(bar);
  return [labelOf(progress), colored, ...progressWords(progress, detail)].join("  ").trimEnd();
}

/** `util.styleText` would check another stream. This one is known to be a terminal. */
function cyan(text: string): string {
  return `\u001b[36m${text}\u001b[39m`;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Shows the cursor again if the process ends unexpectedly: on its exit, and on a signal that ends
 * it. If the program handles a signal itself, the guard ignores that signal.
 *
 * @param restore shows the cursor. It may be called more than once.
 * @returns a function that ends the guard.
 */
function guardCursor(restore: () => void): () => void {
  let isReleased = false;
  const onSignal = (signal: NodeJS.Signals) => {
    // This listener is still called if another listener of the same signal has ended the guard.
    if (isReleased || process.listenerCount(signal) > 1) return;
    restore();
    release();
    process.kill(process.pid, signal);
  };
  const release = () => {
    isReleased = true;
    process.off("exit", restore);
    for (const signal of signals) process.off(signal, onSignal);
  };
  process.on("exit", restore);
  for (const signal of signals) process.on(signal, onSignal);
  return release;
}
