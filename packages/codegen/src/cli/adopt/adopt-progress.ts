import type { AdoptProgress } from "@keywright/orm/adopt";
import { cutToWidth } from "../../progress/text-width.js";
import { counted, shownNumber } from "../terminal/text/counted.js";

/** The minimum time between two lines, or two updates of a line, in milliseconds. */
const interval = { lines: 1000, line: 100 } as const;

export interface AdoptProgressReporter {
  readonly onProgress: (progress: AdoptProgress) => void;
  readonly stop: () => void;
}

/** Shows one line that changes on a terminal, and elsewhere at most one line per second. */
export function adoptProgress(stream: NodeJS.WriteStream): AdoptProgressReporter {
  const isTerminal = stream.isTTY === true && process.env.TERM !== "dumb";
  let pending: string | undefined;
  let label = "";
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = (text: string) => {
    stream.write(
      isTerminal ? `\r\u001b[K${cutToWidth(text, (stream.columns || 80) - 1)}` : `${text}\n`,
    );
    shownAt = performance.now();
    pending = undefined;
  };
  const showPending = () => {
    if (pending !== undefined) show(pending);
  };
  const endLine = () => {
    showPending();
    if (isTerminal && label !== "") stream.write("\n");
    label = "";
  };
  return {
    onProgress: (progress) => {
      const next = `${progress.model} ${progress.phase}`;
      if (label !== next) endLine();
      label = next;
      pending = progressText(progress);
      const minInterval = isTerminal ? interval.line : interval.lines;
      if (performance.now() - shownAt >= minInterval) showPending();
    },
    stop: endLine,
  };
}

function progressText({ model, phase, done, perSecond }: AdoptProgress): string {
  const doneText =
    phase === "rows"
      ? `${counted(done, "document")} so far`
      : `checking indexes of the source, ${counted(done, "entry", "entries")} so far`;
  const rate = perSecond > 0 ? `  ${shownNumber(Math.round(perSecond))} per second` : "";
  return `${model}  ${doneText}${rate}`;
}
