const wholeNumbers = new Intl.NumberFormat("en-US");

/** A number as people read it: `1,234`. */
export function shownNumber(value: number): string {
  return wholeNumbers.format(value);
}

/** `1 row`, `1,234 rows`, `2 entries`. */
export function counted(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${shownNumber(count)} ${count === 1 ? noun : plural}`;
}
