import type { MigrationProgress } from "@keywright/orm";

const wholeNumbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** How much a line tells: from everything down to what matters most. */
export const details = ["all", "noPercent", "noUnit", "noRate"] as const;

export type Detail = (typeof details)[number];

/** What a progress is of: the model, and its indexes where it is them that are built. */
export function labelOf({ model, indexes }: MigrationProgress): string {
  return indexes.length === 0 ? model : `${model} ${indexes.join(", ")}`;
}

/** The whole progress: `cities byPopulation  45,000 / 135,233 rows  33 %  210,000 rows/s  1 s left`. */
export function progressLine(progress: MigrationProgress): string {
  if (progress.phase === "building") {
    const words = progressWords(progress, "all").map((word) => word.trim());
    return words.filter((word) => word !== "").join("  ");
  }
  return `${labelOf(progress)}  counting, ${wholeNumbers.format(progress.rowsDone)} rows so far`;
}

/** What the line of a build is made of, each padded so that it keeps its width: label, rows, percent, rate, time left. */
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
