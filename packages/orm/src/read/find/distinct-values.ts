import { knownNames } from "../../errors/nearest-name.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { isAbsent } from "../../model/keys/index-entries.js";
import { assertArgument, oneOf } from "../../model/shape.js";
import type { AnyQuery, Direction } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { choosePlan } from "../plan/choose-plan.js";
import { rowSourceOf, takeOf } from "./find-rows.js";
import { planAfter } from "./plan-after.js";

/** The options of `distinct`, for any model. */
export interface AnyDistinctQuery
  extends Pick<AnyQuery, "where" | "index" | "take" | "maxReads" | "signal"> {
  readonly field?: unknown;
  readonly order?: unknown;
}

/**
 * Returns the values of a field, each of them once, in the order of an index: also values of other
 * types, and NaN. After each value, the next read begins after all entries with this value, so the
 * number of reads depends on the number of values and not on the number of rows.
 *
 * @throws {InvalidArgumentError} if an option is not valid.
 * @throws the errors of `findMany`, for a query that is ordered by the field.
 */
export async function distinctValues(
  view: ReadView,
  query: AnyDistinctQuery,
  meter: ReadMeter,
): Promise<unknown[]> {
  const { model } = view;
  const { field, order } = optionsOf(view, query);
  const take = takeOf(model, query);
  const { index, where } = query;
  const rows: AnyQuery = {
    where,
    orderBy: { [field]: order },
    index,
    select: { [field]: true },
  };
  const chosen = await choosePlan(view, rows);
  const values: unknown[] = [];
  for (let next = chosen; values.length < take; ) {
    const [found] = await rowSourceOf(view, next, rows, meter, false).next(1);
    const value = found?.row[field];
    if (found === undefined || isAbsent(value)) break;
    values.push(value);
    next = planAfter(chosen.plan, field, found);
  }
  return values;
}

const direction = oneOf<Direction>(["asc", "desc"], '"asc" or "desc"');

function optionsOf(
  { model }: ReadView,
  { field, order = "asc", where }: AnyDistinctQuery,
): { readonly field: string; readonly order: Direction } {
  const fields = Object.keys(model.schema.shape);
  if (typeof field !== "string" || !fields.includes(field)) {
    const reason = `it must be a field of the schema; ${knownNames(String(field), fields, "fields")}`;
    throw new InvalidArgumentError(model.name, "field", reason);
  }
  assertArgument(model.name, "order", order, direction);
  const condition = where?.[field];
  if (condition !== undefined && !isRange(condition)) {
    const reason = "distinct takes gt, gte, lt, lte or between for its own field";
    throw new InvalidArgumentError(model.name, `where.${field}`, reason);
  }
  return { field, order };
}

const rangeNames: ReadonlySet<string> = new Set(["gt", "gte", "lt", "lte", "between"]);

function isRange(condition: unknown): boolean {
  return isPlainObject(condition) && Object.keys(condition).every((name) => rangeNames.has(name));
}
