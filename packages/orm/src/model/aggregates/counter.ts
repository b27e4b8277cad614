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
}

export const rowCounter = "";

interface Summing {
  readonly counted: boolean;
  readonly prefix: string;
  readonly sums: readonly SummedField[];
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

function countersOfOne({ counted, prefix, sums }: Summing, index: string | undefined): Counter[] {
  const name = index ?? rowCounter;
  const count = counted ? [{ name, prefix, index, sum: undefined }] : [];
  return [
    ...count,
    ...sums.map((sum) => {
      const { field, scale } = sum;
      const suffix = scale === 0 ? `sum(${field})` : `sum(${field}, ${scale})`;
      return {
        name: index === undefined ? suffix : `${index} ${suffix}`,
        prefix: `${prefix} ${suffix}`,
        index,
        sum,
      };
    }),
  ];
}

const sumName = /^(?:(.*) )?(sum\(.*\))$/s;

/** A counter's name in its parts. */
export interface CounterName {
  readonly index: string | undefined;
  /** `"sum(amount)"` if it is a sum. */
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

/** True for a name that an index cannot have, because a sum has it. */
export function isNameOfSum(name: string): boolean {
  return sumName.test(name);
}
