import { compareKeys, type KeyOrder } from "@keywright/core";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { averageOf, sumAsValue } from "../../model/aggregates/amount.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import type { Aggregates } from "./aggregate-query.js";
import type { AggregatePlan } from "./plan-aggregate.js";
import { type Extreme, readExtreme } from "./read-extreme.js";
import type { Group, Sum } from "./read-groups.js";

/** The indexes for the smallest and largest values, by their fields. */
export type ExtremeIndexes = ReadonlyMap<string, CompiledIndex>;

/** The aggregates of several groups together. */
export class Total {
  #count = 0n;
  readonly #sums = new Map<string, Sum>();
  readonly #extremes = { min: new Map<string, Extreme>(), max: new Map<string, Extreme>() };
  readonly #order: KeyOrder;

  constructor(order: KeyOrder) {
    this.#order = order;
  }

  async add(
    context: TableContext,
    group: Group,
    aggregates: Aggregates,
    indexes: ExtremeIndexes,
    meter: ReadMeter,
  ): Promise<void> {
    this.#count += group.count;
    for (const [field, { sum, count }] of group.sums) {
      const before = this.#sums.get(field) ?? { sum: 0n, count: 0n };
      this.#sums.set(field, { sum: before.sum + sum, count: before.count + count });
    }
    for (const kind of ["min", "max"] as const) {
      for (const field of aggregates[kind]) {
        const index = indexes.get(field)!;
        const extreme = await readExtreme(context, index, group.parts, kind, meter);
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
  result(model: string, plan: AggregatePlan, aggregates: Aggregates): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    if (aggregates.count) result["count"] = Number(this.#count);
    const valuesOf = (fields: readonly string[], compute: (field: string) => unknown) =>
      Object.fromEntries(fields.map((field) => [field, compute(field)]));
    const sumOf = (field: string) => this.#sums.get(field) ?? { sum: 0n, count: 0n };
    const { sum, avg, min, max } = aggregates;
    if (sum.length > 0) {
      result["sum"] = valuesOf(sum, (field) => {
        const total = sumOf(field);
        if (total.count === 0n) return null;
        const refuse = (): never => {
          const reason =
            "the sum is larger than a number can hold exactly; declare the field as z.bigint()";
          throw new InvalidQueryError(model, `sum.${field}`, reason);
        };
        return sumAsValue(plan.sums.get(field)!.sum!, total.sum, refuse);
      });
    }
    if (avg.length > 0) {
      result["avg"] = valuesOf(avg, (field) => {
        const total = sumOf(field);
        if (total.count === 0n) return null;
        return averageOf(plan.sums.get(field)!.sum!, total.sum, total.count);
      });
    }
    const extremes = this.#extremes;
    if (min.length > 0)
      result["min"] = valuesOf(min, (field) => extremes.min.get(field)?.value ?? null);
    if (max.length > 0)
      result["max"] = valuesOf(max, (field) => extremes.max.get(field)?.value ?? null);
    return result;
  }
}
