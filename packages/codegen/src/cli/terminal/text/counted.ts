import type { Progress } from "@keywright/core";

const wholeNumbers = new Intl.NumberFormat("en-US");

/** Formats a number with separators: `1,234`. */
export function shownNumber(value: number): string {
  return wholeNumbers.format(value);
}

/** Returns a number with its noun: `1 row`, `1,234 rows`, `2 entries`. */
export function counted(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${shownNumber(count)} ${count === 1 ? noun : plural}`;
}

/** Returns the line after a shortened list. Returns no line if nothing was left out. */
export function moreLine(count: number): string[] {
  return count > 0 ? [`  … ${shownNumber(count)} more`] : [];
}

/** `500 of 2,000 rows done` */
export function rowsDoneText({ done, total }: Progress): string {
  return `${shownNumber(done)}${total === undefined ? "" : ` of ${shownNumber(total)}`} rows done`;
}
