import { compareKeys, type KeyOrder } from "@keywright/core";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { averageOf, sumAsValue } from "../../model/aggregates/amount.js";
import type { SummedField } from "../../model/aggregates/summed-field.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { Aggregates } from "./aggregate-query.js";
import type { AggregatePlan } from "./plan-aggregate.js";
import { type Extreme, readExtreme } from "./read-extreme.js";
import type { Group, Sum } from "./read-groups.js";

/** The indexes for the smallest and largest values, by their fields. */
export type ExtremeIndexes = ReadonlyMap<string, CompiledIndex>;

/** The groups and aggregates that a {@link Total} adds up. */
export interface Summary {
  readonly plan: AggregatePlan;
  readonly aggregates: Aggregates;
  readonly extremes: ExtremeIndexes;
}

/** The aggregates of several groups together. */
export class Total {
  readonly #summary: Summary;
  readonly #order: KeyOrder;
  #count = 0n;
  /** In the order of the plan's sums. */
  readonly #sums: Sum[] = [];
  readonly #extremes = { min: new Map<string, Extreme>(), max: new Map<string, Extreme>() };

  constructor(summary: Summary, order: KeyOrder) {
    this.#summary = summary;
    this.#order = order;
  }

  add(group: Group): void {
    this.#count += group.count;
    for (const [i, { sum, count }] of group.sums.entries()) {
      const before = this.#sums[i];
      if (before === undefined) this.#sums[i] = { sum, count };
      else {
        before.sum += sum;
        before.count += count;
      }
    }
  }

  /** Adds the smallest and the largest values of a group, and reads them. */
  async addExtremes(view: ReadView, group: Group, meter: ReadMeter): Promise<void> {
    const { aggregates, extremes } = this.#summary;
    for (const kind of ["min", "max"] as const) {
      for (const field of aggregates[kind]) {
        const index = extremes.get(field)!;
        const extreme = await readExtreme(view, index, group.parts, kind, meter);
        if (extreme !== undefined) this.#note(kind, field, extreme, index);
      }
    }
  }

  #note(kind: "min" | "max", field: string, extreme: Extreme, index: CompiledIndex): void {
    const before = this.#extremes[kind].get(field);
    if (before !== undefined) {
      const order = compareKeys([extreme.part], [before.part], this.#order);
      const isLarger = index.parts.at(-1)!.descending ? order < 0 : order > 0;
      if (isLarger !== (kind === "max")) return;
    }
    this.#extremes[kind].set(field, extreme);
  }

  /**
   * Returns the aggregates as a call returns them: `{ count: 2, sum: { amount: 7 } }`.
   *
   * @throws {InvalidQueryError} if a sum of numbers is not a safe integer.
   */
  result(model: string): Record<string, unknown> {
    const { count, sum, avg, min, max } = this.#summary.aggregates;
    const result: Record<string, unknown> = {};
    if (count) result.count = Number(this.#count);
    if (sum.length > 0) {
      result.sum = this.#bySum(sum, (field, total, { sum: value }) => {
        const refuse = (): never => {
          const reason =
            "the sum is larger than a number can hold exactly; declare the field as z.bigint()";
          throw new InvalidQueryError(model, `sum.${field}`, reason);
        };
        return sumAsValue(total, value, refuse);
      });
    }
    if (avg.length > 0) {
      result.avg = this.#bySum(avg, (_field, summed, total) =>
        averageOf(summed, total.sum, total.count),
      );
    }
    if (min.length > 0) result.min = this.#byExtreme("min", min);
    if (max.length > 0) result.max = this.#byExtreme("max", max);
    return result;
  }

  #bySum(
    fields: readonly string[],
    compute: (field: string, summed: SummedField, total: Sum) => unknown,
  ): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    let i = 0;
    for (const [field, { sum }] of this.#summary.plan.sums) {
      const total = this.#sums[i++];
      if (!fields.includes(field)) continue;
      const hasValues = total !== undefined && total.count !== 0n;
      values[field] = hasValues ? compute(field, sum!, total) : null;
    }
    return values;
  }

  #byExtreme(kind: "min" | "max", fields: readonly string[]): Record<string, unknown> {
    const found = this.#extremes[kind];
    return Object.fromEntries(fields.map((field) => [field, found.get(field)?.value ?? null]));
  }
}
