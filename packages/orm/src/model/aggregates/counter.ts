import { type CounterName, counterName, counterPrefix, counterSuffix } from "./counter-name.js";
import type { SummedField } from "./summed-field.js";

/** A number that each commit keeps up to date: of all rows, or of each group of an index. */
export interface Counter extends CounterName {
  /** The part of its keys after `["__keywright", "count"]`. The key parts of a group follow. */
  readonly prefix: string;
  readonly sum: SummedField | undefined;
  /** For the ranks of an index: the sums of each interval. Undefined for other counters. */
  readonly ranked: readonly SummedField[] | undefined;
  /**
   * The field that marks deleted rows, which a counter of all rows leaves out. Undefined for
   * counters of indexes, because the index itself leaves these rows out.
   */
  readonly unmarked: string | undefined;
}

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
  return [
    ...countersOfOne(model, undefined, unmarked),
    ...indexes.flatMap((index) => countersOfOne(index, index.name, undefined)),
  ];
}

function countersOfOne(
  { counted, prefix, sums, ranked = false }: Summing,
  index: string | undefined,
  unmarked: string | undefined,
): Counter[] {
  const counter = (of: { sum?: SummedField; ranked?: readonly SummedField[] }): Counter => {
    const { sum, ranked: rankedSums } = of;
    const suffix = counterSuffix({ ...of, unmarked });
    return {
      name: counterName(index, suffix),
      prefix: counterPrefix(prefix, { suffix }),
      index,
      suffix,
      sum,
      ranked: rankedSums,
      isRanked: rankedSums !== undefined,
      unmarked,
    };
  };
  return [
    ...(counted ? [counter({})] : []),
    ...sums.map((sum) => counter({ sum })),
    ...(ranked ? [counter({ ranked: sums })] : []),
  ];
}
