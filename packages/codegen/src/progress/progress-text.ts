import type { MigrationProgress } from "@keywright/orm";
import { cutToWidth, textWidth } from "./text-width.js";

const wholeNumbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** The levels of detail of a line, from the most to the least. */
export const details = ["all", "noPercent", "noUnit", "noRate"] as const;

export type Detail = (typeof details)[number];

const phaseWords = {
  counting: "counting",
  dropping: "removing",
  transforming: "changing rows",
  verifying: "verifying",
} as const satisfies Record<Exclude<MigrationProgress["phase"], "building">, string>;

/** A progress with everything that is shown of it. */
export interface ShownProgress extends MigrationProgress {
  /** True for a second pass over the entries, because of something that the first found. */
  readonly isSecondLook?: boolean;
  /** The name of what is counted, in the plural. `"rows"` by default. */
  readonly unit?: string;
}

/** Returns the model, the indexes, and the kind of work unless indexes are built. */
export function labelOf(progress: ShownProgress): string {
  return labelWith(progress, progress.indexes.join(", "));
}

/** Returns the result of {@link labelOf} with the number of indexes instead of names. */
export function shortLabelOf(progress: ShownProgress): string {
  const { length } = progress.indexes;
  return length > 1 ? labelWith(progress, `${length} indexes`) : labelOf(progress);
}

function labelWith({ model, phase, isSecondLook }: ShownProgress, indexes: string): string {
  const subject = indexes === "" ? model : `${model} ${indexes}`;
  if (phase === "building") return subject;
  return `${subject}  ${phaseWords[phase]}${isSecondLook ? " again" : ""}`;
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
  if (hasKnownTotal(progress)) {
    const words = [label, ...progressWords(progress, "all")].map((word) => word.trim());
    return words.filter((word) => word !== "");
  }
  const what = progress.phase === "dropping" ? "entries" : (progress.unit ?? "rows");
  return [`${label}, ${wholeNumbers.format(progress.rowsDone)} ${what} so far`];
}

/** Otherwise the total grows with the rows that are done. */
export function hasKnownTotal({
  phase,
  rowsDone,
  rowsTotal,
  secondsLeft,
}: MigrationProgress): boolean {
  const isOfRows = phase === "transforming" || phase === "building" || phase === "verifying";
  return isOfRows && (rowsDone < rowsTotal || secondsLeft !== undefined);
}

/** Returns rows, percent, rate and time left, each padded to a constant width. */
export function progressWords(progress: ShownProgress, detail: Detail): string[] {
  const { rowsDone, rowsTotal, rowsPerSecond, secondsLeft, unit = "rows" } = progress;
  const hasUnit = detail === "all" || detail === "noPercent";
  const total = wholeNumbers.format(rowsTotal);
  const rows = `${wholeNumbers.format(rowsDone).padStart(total.length)} / ${total}${hasUnit ? ` ${unit}` : ""}`;
  const percent = `${Math.floor(shareDone(rowsDone, rowsTotal) * 100)} %`;
  const rate = rowsPerSecond > 0 ? `${wholeNumbers.format(rowsPerSecond)} ${unit}/s` : "";
  const left = secondsLeft === undefined ? "" : `${durationText(secondsLeft)} left`;
  return [
    rows,
    ...(detail === "all" ? [percent.padStart("100 %".length)] : []),
    ...(detail === "noRate" ? [] : [rate.padStart(`100,000 ${unit}/s`.length)]),
    left.padEnd("59 s left".length),
  ];
}

/** Returns a number between 0 and 1. It is 1 if there are no rows. */
export function shareDone(rowsDone: number, rowsTotal: number): number {
  return rowsTotal > 0 ? Math.min(rowsDone / rowsTotal, 1) : 1;
}

/** `1 s`, `2 min 5 s`, `3 h 20 min`. Seconds are rounded up. */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
