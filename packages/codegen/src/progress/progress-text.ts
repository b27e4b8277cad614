import type { MigrationProgress } from "@keywright/orm";

const wholeNumbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** How much a line tells: from everything down to what matters most. */
export const details = ["all", "noPercent", "noUnit", "noRate"] as const;

export type Detail = (typeof details)[number];

const doing = {
  counting: "counting",
  dropping: "removing entries",
  transforming: "changing rows",
  verifying: "verifying",
} as const satisfies Record<Exclude<MigrationProgress["phase"], "building">, string>;

/** What a progress is of: the model, its indexes where it is about them, and what is done where they are not built. */
export function labelOf({ model, indexes, phase }: MigrationProgress): string {
  const subject = indexes.length === 0 ? model : `${model} ${indexes.join(", ")}`;
  return phase === "building" ? subject : `${subject}  ${doing[phase]}`;
}

/** The whole progress: `cities byPopulation  45,000 / 135,233 rows  33 %  210,000 rows/s  1 s left`. */
export function progressLine(progress: MigrationProgress): string {
  if (hasEnd(progress)) {
    const words = progressWords(progress, "all").map((word) => word.trim());
    return words.filter((word) => word !== "").join("  ");
  }
  const what = progress.phase === "dropping" ? "entries" : "rows";
  const done = `${wholeNumbers.format(progress.rowsDone)} ${what} so far`;
  return `${labelOf(progress)}, ${done}`;
}

/** Whether it is known of how many rows the progress is. */
export function hasEnd({ phase }: MigrationProgress): boolean {
  return phase === "transforming" || phase === "building" || phase === "verifying";
}

/** What the line of such a phase is made of, each padded so that it keeps its width: label and phase, rows, percent, rate, time left. */
export function progressWords(progress: MigrationProgress, detail: Detail): string[] {
  const { rowsDone, rowsTotal, rowsPerSecond, secondsLeft } = progress;
  const hasUnit = detail === "all" || detail === "noPercent";
  const total = wholeNumbers.format(rowsTotal);
  const rows = `${wholeNumbers.format(rowsDone).padStart(total.length)} / ${total}${hasUnit ? " rows" : ""}`;
  const percent = `${Math.floor(shareDone(rowsDone, rowsTotal) * 100)} %`;
  const rate = rowsPerSecond > 0 ? `${wholeNumbers.format(rowsPerSecond)} rows/s` : "";
  const left = secondsLeft === undefined ? "" : `${durationText(secondsLeft)} left`;
  return [
    labelOf(progress),
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
