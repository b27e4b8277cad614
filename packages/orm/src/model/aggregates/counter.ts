import type { SummedField } from "./summed-field.js";

/** A number that each commit keeps up to date: of all rows, or of each group of an index. */
export interface Counter {
  /**
   * Its name in the catalog. `""` counts all rows, and `"byCustomer"` the rows with each key of the
   * index. `"sum(amount)"` and `"byCustomer sum(amount)"` are sums.
   */
  readonly name: string;
  /** The part of its keys after `["__keywright", "count"]`. The key parts of a group follow. */
  readonly prefix: string;
  /** The name of the index with its groups. Undefined for all rows. */
  readonly index: string | undefined;
  /** The field that is added up. Undefined if the counter counts rows. */
  readonly sum: SummedField | undefined;
  /** For the ranks of an index: the sums of each interval. Undefined for other counters. */
  readonly ranked: readonly SummedField[] | undefined;
  /**
   * The field that marks deleted rows, which a counter of all rows leaves out. Undefined for
   * counters of indexes, because the index itself leaves these rows out.
   */
  readonly unmarked: string | undefined;
}

export const rowCounter = "";

interface Summing {
  readonly counted: boolean;
  readonly prefix: string;
  readonly sums: readonly SummedField[];
  readonly ranked?: boolean;
}

/**
 * Returns the counters of a model, those of all rows first.
 *
 * @param unmarked the field that marks deleted rows. Counters that leave these rows out have other
 * names and keys than those that include them, so that `migrate` builds them.
 */
export function countersOf(
  model: Summing,
  indexes: readonly (Summing & { readonly name: string })[],
  unmarked?: string,
): Counter[] {
  const ofRows = countersOfOne(model, undefined);
  return [
    ...(unmarked === undefined ? ofRows : ofRows.map((one) => unmarkedCounter(one, unmarked))),
    ...indexes.flatMap((index) => countersOfOne(index, index.name)),
  ];
}

function countersOfOne(
  { counted, prefix, sums, ranked = false }: Summing,
  index: string | undefined,
): Counter[] {
  const name = index ?? rowCounter;
  const others = { sum: undefined, ranked: undefined, unmarked: undefined };
  const named = (suffix: string) => ({
    name: index === undefined ? suffix : `${index} ${suffix}`,
    prefix: `${prefix} ${suffix}`,
    index,
  });
  // The intervals have all sums, so with other sums it is another counter, which is built.
  const fields = sums.map(({ field, scale }) => (scale === 0 ? field : `${field}:${scale}`));
  return [
    ...(counted ? [{ name, prefix, index, ...others }] : []),
    ...sums.map((sum) => {
      const { field, scale } = sum;
      const suffix = scale === 0 ? `sum(${field})` : `sum(${field}, ${scale})`;
      return { ...named(suffix), ...others, sum };
    }),
    ...(ranked ? [{ ...named(`ranked(${fields.join(", ")})`), ...others, ranked: sums }] : []),
  ];
}

const unmarkedName = "unmarked(";

function unmarkedCounter(counter: Counter, unmarked: string): Counter {
  const { sum } = parseCounterName(counter.name);
  const name = `${unmarkedName}${unmarked})${sum === undefined ? "" : ` ${sum}`}`;
  const prefix = sum === undefined ? counter.prefix : counter.prefix.slice(0, -sum.length - 1);
  return { ...counter, name, prefix: `${prefix} ${name}`, unmarked };
}

const sumName = /^(?:(.*) )?((?:sum|ranked)\(.*\))$/s;

/** A counter's name in its parts. */
export interface CounterName {
  readonly index: string | undefined;
  /**
   * `"sum(amount)"` if it is a sum, and `"ranked(amount)"` if it has ranks. A counter that leaves
   * deleted rows out counts as a sum of all rows: `"unmarked(deletedAt)"`, or
   * `"unmarked(deletedAt) sum(amount)"`.
   */
  readonly sum: string | undefined;
}

export function parseCounterName(name: string): CounterName {
  if (name.startsWith(unmarkedName)) return { index: undefined, sum: name };
  const [, index, sum] = sumName.exec(name) ?? [];
  if (sum !== undefined) return { index, sum };
  return { index: name === rowCounter ? undefined : name, sum };
}

export function counterNameOf({ index, sum }: CounterName): string {
  return [index, sum].filter((part) => part !== undefined).join(" ");
}

/** True for a name that an index cannot have, because a sum or ranks have it. */
export function isNameOfSum(name: string): boolean {
  return sumName.test(name) || name.startsWith(unmarkedName);
}
