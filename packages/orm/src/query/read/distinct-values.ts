import type { AnyQuery, Direction } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { knownNames } from "../../errors/nearest-name.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isAbsent } from "../../indexes/index-entries.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { findFirstRow } from "./find-rows.js";
import { takeOf } from "./read-page.js";

/** The options of `distinct`, for any model. */
export interface AnyDistinctQuery extends Pick<AnyQuery, "where" | "index" | "take" | "maxReads"> {
  readonly field?: unknown;
  readonly order?: unknown;
}

/**
 * Returns the values of a field, each of them once, in the order of an index. After each value, the
 * next read begins after all entries with this value, so the number of reads depends on the number
 * of values and not on the number of rows.
 *
 * @throws {InvalidArgumentError} if an option is not valid.
 * @throws the errors of `findMany`, for a query that is ordered by the field.
 */
export async function distinctValues(
  context: TableContext,
  query: AnyDistinctQuery,
  meter: ReadMeter,
): Promise<unknown[]> {
  const { model } = context;
  const { field, order } = optionsOf(context, query);
  const take = takeOf(model, query);
  const { index, where } = query;
  const values: unknown[] = [];
  while (values.length < take) {
    const previous = values.at(-1);
    const next: AnyQuery = {
      where: previous === undefined ? where : whereAfter(context, where, field, previous, order),
      orderBy: { [field]: order },
      index,
      select: { [field]: true },
    };
    const found = await findFirstRow(context, next, meter);
    const value = found?.row[field];
    if (isAbsent(value)) break;
    values.push(value);
  }
  return values;
}

function optionsOf(
  { model }: TableContext,
  { field, order = "asc" }: AnyDistinctQuery,
): { readonly field: string; readonly order: Direction } {
  const fields = Object.keys(model.schema.shape);
  if (typeof field !== "string" || !fields.includes(field)) {
    const reason = `it must be a field of the schema; ${knownNames(String(field), fields, "fields")}`;
    throw new InvalidArgumentError(model.name, "field", reason);
  }
  if (order !== "asc" && order !== "desc")
    throw new InvalidArgumentError(model.name, "order", 'it must be "asc" or "desc"');
  return { field, order };
}

/** Returns the conditions of the rows after those with a value. */
function whereAfter(
  { model }: TableContext,
  where: AnyQuery["where"],
  field: string,
  value: unknown,
  order: Direction,
): AnyQuery["where"] {
  const conditions = { ...(where as Readonly<Record<string, unknown>> | undefined) };
  const bounds = boundsOf(conditions[field]);
  if (bounds === undefined) {
    const reason = "distinct takes gt, gte, lt, lte or between for its own field";
    throw new InvalidArgumentError(model.name, `where.${field}`, reason);
  }
  const { gt, gte, lt, lte } = bounds;
  const end = order === "asc" ? { lt, lte } : { gt, gte };
  const kept = Object.entries(end).filter(([, bound]) => bound !== undefined);
  return {
    ...conditions,
    [field]: { ...Object.fromEntries(kept), [order === "asc" ? "gt" : "lt"]: value },
  };
}

interface Bounds {
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
}

/** Returns undefined if a condition is no range. */
function boundsOf(condition: unknown): Bounds | undefined {
  if (condition === undefined) return {};
  if (!isPlainObject(condition)) return undefined;
  const { between } = condition;
  if (Array.isArray(between)) return { gte: between[0], lte: between[1] };
  const isRange = Object.keys(condition).every((name) => ["gt", "gte", "lt", "lte"].includes(name));
  return isRange ? condition : undefined;
}
