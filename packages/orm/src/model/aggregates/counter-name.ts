import type { SummedField } from "./summed-field.js";

/** What the name of a counter says. The catalog stores the states of counters by their names. */
export interface CounterName {
  /**
   * As it is stored. `""` counts all rows, and `"byCustomer"` the rows with each key of the index.
   * `"sum(amount)"` and `"byCustomer sum(amount)"` are sums, and `"byCustomer ranked(amount)"` has
   * ranks. `"unmarked(deletedAt)"` and `"unmarked(deletedAt) sum(amount)"` leave deleted rows out.
   */
  readonly name: string;
  /** The name of the index with its groups. Undefined for all rows. */
  readonly index: string | undefined;
  /** What follows the index in the name, and the prefix of the index or model in the keys. */
  readonly suffix: string;
  /** The field that is added up. Undefined if rows are counted. */
  readonly sum: Pick<SummedField, "field" | "scale"> | undefined;
  readonly isRanked: boolean;
}

/** The name of the counter of all rows. */
export const rowCounter = "";

const unmarkedBegin = "unmarked(";
const suffixedName = /^(?:(.*) )?((?:sum|ranked)\(.*\))$/s;
const sumSuffix = /sum\((.*?)(?:, (\d+))?\)$/s;

export function parseCounterName(name: string): CounterName {
  if (name.startsWith(unmarkedBegin)) return parsed(name, undefined, name);
  const [, index, suffix] = suffixedName.exec(name) ?? [];
  if (suffix !== undefined) return parsed(name, index, suffix);
  return parsed(name, name === rowCounter ? undefined : name, "");
}

function parsed(name: string, index: string | undefined, suffix: string): CounterName {
  const [, field, scale = 0] = sumSuffix.exec(suffix) ?? [];
  const sum = field === undefined ? undefined : { field, scale: Number(scale) };
  return { name, index, suffix, sum, isRanked: suffix.startsWith("ranked(") };
}

/** The parts of a counter from which its name is made. */
interface CounterParts {
  readonly sum?: SummedField | undefined;
  /** The sums of the intervals. With other sums it is another counter, which is built. */
  readonly ranked?: readonly SummedField[] | undefined;
  readonly unmarked?: string | undefined;
}

export function counterSuffix({ sum, ranked, unmarked }: CounterParts): string {
  const parts: string[] = [];
  if (unmarked !== undefined) parts.push(`${unmarkedBegin}${unmarked})`);
  if (sum !== undefined) {
    const { field, scale } = sum;
    parts.push(scale === 0 ? `sum(${field})` : `sum(${field}, ${scale})`);
  }
  if (ranked !== undefined) {
    const fields = ranked.map(({ field, scale }) => (scale === 0 ? field : `${field}:${scale}`));
    parts.push(`ranked(${fields.join(", ")})`);
  }
  return parts.join(" ");
}

/** Returns the name of a counter of an index, or of all rows. */
export function counterName(index: string | undefined, suffix: string): string {
  return index === undefined ? suffix : withSuffix(index, suffix);
}

/** Returns the part of a counter's keys after `["__keywright", "count"]`. */
export function counterPrefix(prefix: string, { suffix }: Pick<CounterName, "suffix">): string {
  return withSuffix(prefix, suffix);
}

function withSuffix(text: string, suffix: string): string {
  return suffix === "" ? text : `${text} ${suffix}`;
}

/** True for a name that an index cannot have, because a sum or ranks have it. */
export function isNameOfSum(name: string): boolean {
  return suffixedName.test(name) || name.startsWith(unmarkedBegin);
}
