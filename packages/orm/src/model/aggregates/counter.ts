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
  /** Undefined if it counts rows. */
  readonly sum: SummedField | undefined;
  /**
   * If it has the ranks of an index: the sums that each of its intervals has besides the number of
   * its entries. Otherwise undefined.
   */
  readonly ranked: readonly SummedField[] | undefined;
}

export const rowCounter = "";

interface Summing {
  readonly counted: boolean;
  readonly prefix: string;
  readonly sums: readonly SummedField[];
  readonly ranked?: boolean;
}

/** Returns the counters of a model, those of all rows first. */
export function countersOf(
  model: Summing,
  indexes: readonly (Summing & { readonly name: string })[],
): Counter[] {
  return [
    ...countersOfOne(model, undefined),
    ...indexes.flatMap((index) => countersOfOne(index, index.name)),
  ];
}

function countersOfOne(
  { counted, prefix, sums, ranked = false }: Summing,
  index: string | undefined,
): Counter[] {
  const name = index ?? rowCounter;
  const others = { sum: undefined, ranked: undefined };
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

const sumName = /^(?:(.*) )?((?:sum|ranked)\(.*\))$/s;

/** A counter's name in its parts. */
export interface CounterName {
  readonly index: string | undefined;
  /** `"sum(amount)"` if it is a sum, and `"ranked(amount)"` if it has ranks. */
  readonly sum: string | undefined;
}

export function parseCounterName(name: string): CounterName {
  const [, index, sum] = sumName.exec(name) ?? [];
  if (sum !== undefined) return { index, sum };
  return { index: name === rowCounter ? undefined : name, sum };
}

export function counterNameOf({ index, sum }: CounterName): string {
  return [index, sum].filter((part) => part !== undefined).join(" ");
}

/** True for a name that an index cannot have, because a sum or ranks have it. */
export function isNameOfSum(name: string): boolean {
  return sumName.test(name);
}
