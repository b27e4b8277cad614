import type { Progress } from "@keywright/core";
import { cutToWidth, textWidth } from "./text-width.js";

const wholeNumbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** The levels of detail of a line, from the most to the least. */
export const details = ["all", "noPercent", "noUnit", "noRate"] as const;

export type Detail = (typeof details)[number];

/** The words for phases. The other phases, which are the usual ones, have none. */
const phaseWords: Readonly<Record<string, string>> = {
  counting: "counting",
  dropping: "removing",
  transforming: "changing rows",
  verifying: "verifying",
  entries: "checking indexes of the source",
  "catching up": "catching up",
  comparing: "comparing",
  switching: "switching",
};

/** The name of what is counted. */
export type Unit = readonly [one: string, many: string];

export const units: Readonly<
  Record<"rows" | "entries" | "commits" | "documents" | "megabytes", Unit>
> = {
  rows: ["row", "rows"],
  entries: ["entry", "entries"],
  commits: ["commit", "commits"],
  documents: ["document", "documents"],
  megabytes: ["MB", "MB"],
};

/** A progress with everything that is shown of it. */
export type ShownProgress = Progress & {
  /** What the work is done with: the name of a model, or another label. */
  readonly model: string;
  readonly indexes?: readonly string[];
  /** True for a second pass over the entries, because of something that the first found. */
  readonly isSecondLook?: boolean;
  readonly unit?: Unit;
};

/** Returns the model, the indexes, and the kind of work unless indexes are built. */
export function labelOf(progress: ShownProgress): string {
  return labelWith(progress, (progress.indexes ?? []).join(", "));
}

/** Returns the result of {@link labelOf} with the number of indexes instead of names. */
export function shortLabelOf(progress: ShownProgress): string {
  const { length } = progress.indexes ?? [];
  return length > 1 ? labelWith(progress, `${length} indexes`) : labelOf(progress);
}

function labelWith({ model, phase, isSecondLook }: ShownProgress, indexes: string): string {
  const subject = indexes === "" ? model : `${model} ${indexes}`;
  const words = phaseWords[phase];
  return words === undefined ? subject : `${subject}  ${words}${isSecondLook ? " again" : ""}`;
}

/** `cities byPopulation  45,000 / 135,233 rows  33 %  210,000 rows/s  1 s left` */
export function progressLine(progress: ShownProgress): string {
  return lineParts(progress).join("  ");
}

/** Returns {@link progressLine} without the last parts that do not fit. */
export function progressLineIn(columns: number, progress: ShownProgress): string {
  const parts = lineParts(progress);
  while (parts.length > 1 && textWidth(parts.join("  ")) > columns) parts.pop();
  return cutToWidth(parts.join("  "), columns);
}

function lineParts(progress: ShownProgress): string[] {
  const label = labelOf(progress);
  if (hasTotal(progress)) {
    const words = [label, ...progressWords(progress, "all")].map((word) => word.trim());
    return words.filter((word) => word !== "");
  }
  const { phase, done, unit = phase === "dropping" ? units.entries : units.rows } = progress;
  const count = `${wholeNumbers.format(done)} ${done === 1 ? unit[0] : unit[1]} so far`;
  const rate = rateText(progress, unit);
  return [`${label}, ${count}`, ...(rate === "" ? [] : [rate])];
}

export function hasTotal<P extends Progress>(progress: P): progress is P & { total: number } {
  return progress.total !== undefined;
}

/** Returns rows, percent, rate and time left, each padded to a constant width. */
export function progressWords(
  progress: ShownProgress & { readonly total: number },
  detail: Detail,
): string[] {
  const { done, unit = units.rows } = progress;
  const hasUnit = detail === "all" || detail === "noPercent";
  const total = wholeNumbers.format(progress.total);
  const rows = `${wholeNumbers.format(done).padStart(total.length)} / ${total}${hasUnit ? ` ${unit[1]}` : ""}`;
  const percent = `${Math.floor(shareDone(progress) * 100)} %`;
  const seconds = secondsLeft(progress);
  const left = seconds === undefined ? "" : `${durationText(seconds)} left`;
  return [
    rows,
    ...(detail === "all" ? [percent.padStart("100 %".length)] : []),
    ...(detail === "noRate"
      ? []
      : [rateText(progress, unit).padStart(`100,000 ${unit[1]}/s`.length)]),
    left.padEnd("59 s left".length),
  ];
}

function rateText({ perSecond }: Progress, [, many]: Unit): string {
  return perSecond > 0 ? `${wholeNumbers.format(perSecond)} ${many}/s` : "";
}

/** Returns a number between 0 and 1. It is 1 if there are no rows. */
export function shareDone({
  done,
  total,
}: {
  readonly done: number;
  readonly total: number;
}): number {
  return total > 0 ? Math.min(done / total, 1) : 1;
}

/** Returns undefined before the rate is known. */
function secondsLeft({ done, total, perSecond }: Progress & { readonly total: number }) {
  const left = Math.max(total - done, 0);
  return left === 0 ? 0 : perSecond > 0 ? left / perSecond : undefined;
}

/** `1 s`, `2 min 5 s`, `3 h 20 min`. Seconds are rounded up. */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
