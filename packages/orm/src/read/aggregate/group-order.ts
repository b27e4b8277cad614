import { compareKeys } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { knownNames } from "../../errors/nearest-name.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { keyPartOf } from "../../model/keys/key-parts.js";
import type { Direction } from "../../state/context/any-query.js";
import { type Aggregates, fieldAggregates } from "./aggregate-query.js";

/** A group as `groupBy` returns it. */
export type GroupRow = Readonly<Record<string, unknown>>;

/** One of the aggregates of a group: the count, or a function of a field. */
interface AggregateOf {
  readonly valueIn: (group: GroupRow) => unknown;
  /** Compares two values that are not null. */
  readonly compare: (a: unknown, b: unknown) => number;
}

export interface GroupOrder {
  /** The direction in which the index is read. */
  readonly direction: Direction;
  /** Sorts all groups by an aggregate. Undefined if they stay in the order of the index. */
  readonly sort: ((a: GroupRow, b: GroupRow) => number) | undefined;
}

/**
 * Returns the order of the groups: the direction of the first field of `by`, or an order by one of
 * the aggregates that the call asks for. Groups without a value come last.
 *
 * @throws {InvalidArgumentError} if it is an order by something else.
 */
export function parseGroupOrder(
  model: CompiledModel,
  orderBy: unknown,
  by: readonly string[],
  aggregates: Aggregates,
): GroupOrder {
  if (orderBy === undefined) return { direction: "asc", sort: undefined };
  const first = by[0]!;
  const refuse = (): never => {
    const reason = `groups are sorted by the fields of by, or by one aggregate of the call; write { ${first}: "asc" }, or { count: "desc" }`;
    throw new InvalidArgumentError(model.name, "orderBy", reason);
  };
  const [[field, value] = ["", undefined], ...others] = entriesOf(orderBy) ?? [];
  if (others.length > 0) return refuse();
  if (field === first && isDirection(value)) return { direction: value, sort: undefined };
  const [[name, direction] = ["", value], ...rest] =
    field === "count" ? [] : (entriesOf(value) ?? []);
  if (rest.length > 0 || !isDirection(direction)) return refuse();
  const aggregate = aggregateOf(aggregates, field, name);
  if (aggregate === undefined) return refuse();
  const { valueIn, compare } = aggregate;
  const sort = (a: GroupRow, b: GroupRow): number => {
    const [left, right] = [valueIn(a), valueIn(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    const order = compare(left, right);
    // Values of different types are in the order of keys, as in an index.
    const difference = Number.isNaN(order)
      ? compareKeys([keyPartOf(left)!], [keyPartOf(right)!], model.keyOrder)
      : order;
    return direction === "asc" ? difference : -difference;
  };
  return { direction: "asc", sort };
}

const comparisons: Readonly<Record<string, (difference: number) => boolean>> = {
  equals: (difference) => difference === 0,
  gt: (difference) => difference > 0,
  gte: (difference) => difference >= 0,
  lt: (difference) => difference < 0,
  lte: (difference) => difference <= 0,
};

/**
 * Returns whether a group meets the conditions of `having`, which are about aggregates that the
 * call asks for. A group without a value meets none.
 *
 * @throws {InvalidArgumentError} if a condition is not valid.
 */
export function parseHaving(
  model: CompiledModel,
  having: unknown,
  aggregates: Aggregates,
): (group: GroupRow) => boolean {
  if (having === undefined) return () => true;
  const fail = (place: string, reason: string): never => {
    throw new InvalidArgumentError(model.name, place === "" ? "having" : `having.${place}`, reason);
  };
  const listed = (value: unknown, place: string) =>
    entriesOf(value) ?? fail(place, "it must be an object, such as { count: { gt: 1 } }");
  const tests: ((group: GroupRow) => boolean)[] = [];
  const add = (kind: string, field: string, condition: unknown): void => {
    const place = field === "" ? kind : `${kind}.${field}`;
    const aggregate =
      aggregateOf(aggregates, kind, field) ??
      fail(place, "the call does not ask for this aggregate; add it beside having");
    const { valueIn, compare } = aggregate;
    for (const [name, operand] of isPlainObject(condition)
      ? listed(condition, place)
      : [["equals", condition] as const]) {
      const isMet =
        (Object.hasOwn(comparisons, name) ? comparisons[name] : undefined) ??
        fail(`${place}.${name}`, unknownCondition(name));
      if (operand === undefined || operand === null || Number.isNaN(operand))
        fail(`${place}.${name}`, "it must be a value");
      if (kind === "sum" && !decimalNumber.test(String(operand)))
        fail(`${place}.${name}`, "it must be a number, or a decimal number as text");
      tests.push((group) => {
        const value = valueIn(group);
        return value !== null && isMet(compare(value, operand));
      });
    }
  };
  for (const [kind, conditions] of listed(having, "")) {
    if (conditions === undefined) continue;
    if (kind === "count") add(kind, "", conditions);
    else for (const [field, condition] of listed(conditions, kind)) add(kind, field, condition);
  }
  return (group) => tests.every((test) => test(group));
}

const decimalNumber = /^-?\d+(\.\d+)?$/;

function unknownCondition(name: string): string {
  const advice = knownNames(name, Object.keys(comparisons), "conditions");
  return `there is no such condition; ${advice}`;
}

function aggregateOf(aggregates: Aggregates, kind: string, field: string): AggregateOf | undefined {
  if (kind === "count" && field === "") {
    if (!aggregates.count) return undefined;
    return { valueIn: (group) => group[kind], compare: compareValues };
  }
  const name = fieldAggregates.find((one) => one === kind);
  if (name === undefined || !aggregates[name].includes(field)) return undefined;
  return {
    valueIn: (group) => (group[name] as GroupRow)[field],
    // Exact sums of decimals are texts.
    compare: name === "sum" ? compareAmounts : compareValues,
  };
}

/**
 * Compares two values of one field. Texts are compared by code points, as keys are. NaN for values
 * of different types, which are neither equal nor in an order.
 */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string")
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  const [left, right] = [amountOf(a), amountOf(b)];
  if (!isAmount(left) || !isAmount(right)) return left === right ? 0 : Number.NaN;
  return left < right ? -1 : left > right ? 1 : 0;
}

function amountOf(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value;
}

function isAmount(value: unknown): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && !Number.isNaN(value));
}

/** Compares sums: numbers, bigints, or decimal numbers as texts. */
function compareAmounts(a: unknown, b: unknown): number {
  if (typeof a !== "string" && typeof b !== "string") return compareValues(a, b);
  const digits = Math.max(decimalsOf(a), decimalsOf(b));
  return compareValues(scaled(a, digits), scaled(b, digits));
}

function decimalsOf(value: unknown): number {
  return String(value).split(".")[1]?.length ?? 0;
}

function scaled(value: unknown, digits: number): bigint {
  const [whole = "", decimals = ""] = String(value).split(".");
  return BigInt(whole + decimals.padEnd(digits, "0"));
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  return isPlainObject(value) ? Object.entries(value) : undefined;
}

function isDirection(value: unknown): value is Direction {
  return value === "asc" || value === "desc";
}
