import type { MigrationProgress } from "@keywright/orm";
import { cutToWidth, textWidth } from "./text-width.js";

const wholeNumbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** How much a line tells: from everything down to what matters most. */
export const details = ["all", "noPercent", "noUnit", "noRate"] as const;

export type Detail = (typeof details)[number];

const doing = {
  counting: "counting",
  dropping: "removing",
  transforming: "changing rows",
  verifying: "verifying",
} as const satisfies Record<Exclude<MigrationProgress["phase"], "building">, string>;

/** A progress as it is shown. */
export interface ShownProgress extends MigrationProgress {
  /** Something in the first look at the entries makes a second one necessary, and this is of that. */
  readonly isSecondLook?: boolean;
}

/** What a progress is of: the model, its indexes where it is about them, and what is done where they are not built. */
export function labelOf(progress: ShownProgress): string {
  return labelWith(progress, progress.indexes.join(", "));
}

/** {@link labelOf}, with the number of the indexes for their names where there are more than one. */
export function shortLabelOf(progress: ShownProgress): string {
  const { length } = progress.indexes;
  return length > 1 ? labelWith(progress, `${length} indexes`) : labelOf(progress);
}

function labelWith({ model, phase, isSecondLook }: ShownProgress, indexes: string): string {
  const subject = indexes === "" ? model : `${model} ${indexes}`;
  if (phase === "building") return subject;
  return `${subject}  ${doing[phase]}${isSecondLook ? " again" : ""}`;
}

/** The whole progress: `cities byPopulation  45,000 / 135,233 rows  33 %  210,000 rows/s  1 s left`. */
export function progressLine(progress: ShownProgress): string {
  return lineParts(progress).join("  ");
}

/** {@link progressLine} in so many columns: what comes last is left out where there is no room for it. */
export function progressLineIn(columns: number, progress: ShownProgress): string {
  const parts = lineParts(progress);
  while (parts.length > 1 && textWidth(parts.join("  ")) > columns) parts.pop();
  return cutToWidth(parts.join("  "), columns);
}

function lineParts(progress: ShownProgress): string[] {
  const label = labelOf(progress);
  if (hasEnd(progress)) {
    const words = [label, ...progressWords(progress, "all")].map((word) => word.trim());
    return words.filter((word) => word !== "");
  }
  const what = progress.phase === "dropping" ? "entries" : "rows";
  return [`${label}, ${wholeNumbers.format(progress.rowsDone)} ${what} so far`];
}

/**
 * Whether it is known of how many rows the progress is. Where it is not, the total grows with the rows that are done, and
 * nobody can say how long it takes.
 */
export function hasEnd({ phase, rowsDone, rowsTotal, secondsLeft }: MigrationProgress): boolean {
  const isOfRows = phase === "transforming" || phase === "building" || phase === "verifying";
  return isOfRows && (rowsDone < rowsTotal || secondsLeft !== undefined);
}

/** What the line of a progress with an end says behind the label, each padded so that it keeps its width: rows, percent, rate, time left. */
export function progressWords(progress: MigrationProgress, detail: Detail): string[] {
  const { rowsDone, rowsTotal, rowsPerSecond, secondsLeft } = progress;
  const hasUnit = detail === "all" || detail === "noPercent";
  const total = wholeNumbers.format(rowsTotal);
  const rows = `${wholeNumbers.format(rowsDone).padStart(total.length)} / ${total}${hasUnit ? " rows" : ""}`;
  const percent = `${Math.floor(shareDone(rowsDone, rowsTotal) * 100)} %`;
  const rate = rowsPerSecond > 0 ? `${wholeNumbers.format(rowsPerSecond)} rows/s` : "";
  const left = secondsLeft === undefined ? "" : `${durationText(secondsLeft)} left`;
  return [
    rows,
    ...(detail === "all" ? [percent.padStart("100 %".length)] : []),
    ...(detail === "noRate" ? [] : [rate.padStart("100,000 rows/s".length)]),
    left.padEnd("59 s left".length),
  ];
}

/** Between 0 and 1; nothing to do is done. */
export function shareDone(rowsDone: number, rowsTotal: number): number {
  return rowsTotal > 0 ? Math.min(rowsDone / rowsTotal, 1) : 1;
}

/** The two largest units, seconds rounded up: `1 s`, `2 min 5 s`, `3 h 20 min`. */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
