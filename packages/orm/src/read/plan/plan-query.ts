import { InvalidQueryError, type UnindexedQueryError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { canBeList, isList } from "../../model/fields/key-kinds.js";
import { isSamePart, keyPartOf } from "../../model/keys/key-parts.js";
import { leavesOutMore } from "../../model/options/soft-delete.js";
import type { AnyQuery, Direction } from "../../state/context/any-query.js";
import { namedIndexes } from "../../state/schema/named-index.js";
import type { FieldCondition } from "./fields/field-condition.js";
import { type KeyField, keyFields } from "./fields/key-fields.js";
import { parseQuery, type QueryFields } from "./fields/query-fields.js";
import { holdsSelection, type QueryPlan, type Segment } from "./ranges/query-plan.js";
import { assertFits, segmentsOf } from "./ranges/segments.js";
import { unionOfSegments } from "./ranges/union-of-segments.js";
import type { ExistingKey } from "./suggest/suggest-index.js";
import { unindexedQuery, unmergedQuery } from "./suggest/unindexed-error.js";

/** The options of a query that its plan depends on. */
export type PlannedQuery = Pick<AnyQuery, "where" | "orderBy" | "order" | "index" | "select">;

/**
 * Returns the plans that serve a query, best first. Plans that pin more fields come first, then
 * plans that read no rows in addition to index entries, then plans of unique indexes. Equal plans
 * are in the order of the model's indexes.
 *
 * All plans find the same rows. An index that normalizes a field finds other rows than an index
 * that does not. Of such indexes, the one that pins more fields, is unique, or comes first in the
 * model serves the query, whatever the query selects.
 */
export function planQuery(model: CompiledModel, query: PlannedQuery): QueryPlan[] {
  const alternatives = parseQuery(model, query);
  const plans = plansOfAlternatives(model, alternatives, query);
  if (plans.length === 0) throw unindexedError(model, alternatives);
  return plans;
}

/** Returns the plans of single indexes that serve all alternatives of a query, best first. */
export function plansOfAlternatives(
  model: CompiledModel,
  alternatives: readonly QueryFields[],
  query: PlannedQuery,
): QueryPlan[] {
  const [first] = alternatives;
  const isForced = query.index !== undefined;
  if (!isForced && first !== undefined && first.conditions.size + first.order.size === 0) {
    const reason =
      "the query has no where, orderBy or index; add one, or read every row with scan()";
    throw new InvalidQueryError(model.name, "where", reason);
  }
  const candidates =
    query.index !== undefined ? namedIndexes(model, query.index) : [undefined, ...model.indexes];
  const plans: QueryPlan[] = [];
  for (const index of candidates) {
    if (!isForced && index?.isHidden) continue;
    const plan = planOf(model, index, alternatives);
    const isWhole = (fields: QueryFields) => isComplete(model, index, fields);
    if (plan !== undefined && (isForced || alternatives.every(isWhole))) plans.push(plan);
  }
  if (plans.length <= 1) return plans;
  const pinned = ({ index, segments }: QueryPlan) =>
    pinnedFields(segments) + 2 * Object.keys(index?.condition ?? {}).length;
  const unique = ({ index }: QueryPlan) => Number(index === undefined || index.unique);
  const covers = ({ index }: QueryPlan) =>
    Number(index === undefined || holdsSelection(index, query.select));
  const [best] = sortByRank(plans, (plan) => [pinned(plan), unique(plan)]);
  const names = new Set(alternatives.flatMap((fields) => namesOf(fields)));
  const alike = plans.filter((plan) => findsSameRows(plan, best!, names));
  return sortByRank(alike, (plan) => [pinned(plan), covers(plan), unique(plan)]);
}

/** True if two plans compare each field of the query with the same values of the rows. */
function findsSameRows(a: QueryPlan, b: QueryPlan, names: Iterable<string>): boolean {
  if (a.index === b.index) return true;
  for (const name of names) {
    if (normalizerOf(a.index, name) !== normalizerOf(b.index, name)) return false;
  }
  return true;
}

function normalizerOf(index: CompiledIndex | undefined, name: string): unknown {
  return index?.parts.find(({ field }) => field === name)?.normalize;
}

/** @param scope the values of fields that the rows have. The primary key must begin with them. */
export function planScan(model: CompiledModel, query: PlannedQuery, scope?: AnyRow): QueryPlan {
  const [fields] = parseQuery(model, query);
  for (const field of fields.conditions.keys()) {
    throw new InvalidQueryError(
      model.name,
      field,
      "scan() takes no where; use findMany, or test the condition in filter",
    );
  }
  const [scoped] = scope === undefined ? [fields] : parseQuery(model, { ...query, where: scope });
  const plan = planOf(model, undefined, [scoped]);
  if (plan !== undefined) return plan;
  if (scope !== undefined) {
    const names = Object.keys(scope).join(", ");
    const reason = `the primary key does not begin with the fields of the scope (${names}); use findMany with an index that does`;
    throw new InvalidQueryError(model.name, names, reason);
  }
  const reason = "scan() can only sort by the primary key; use findMany with an index";
  throw new InvalidQueryError(model.name, [...fields.order.keys()].join(), reason);
}

/**
 * Returns the plan with which an index serves a query: values for its first fields, then bounds on
 * the next field, then the order. Undefined if it does not serve every alternative of the query.
 */
export function planOf(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  alternatives: readonly QueryFields[],
): QueryPlan | undefined {
  const fields = keyFields(model, index);
  const served: QueryFields["conditions"][] = [];
  for (const { conditions } of alternatives) {
    const onKey = index?.condition === undefined ? conditions : conditionsOnKey(index, conditions);
    if (!isServed(fields, onKey)) return undefined;
    served.push(onKey);
  }
  const reverse = readsBackward(index, fields, alternatives);
  if (reverse === undefined) return undefined;
  const segments: Segment[] = [];
  for (const conditions of served) segments.push(...segmentsOf(model, fields, conditions));
  if (served.length === 1) return { model, index, segments, reverse };
  const union = unionOfSegments(model, fields, segments);
  return union && { model, index, segments: union, reverse };
}

/** Returns the conditions that the key of an index has to serve: those that its `where` is not. */
function conditionsOnKey(
  index: CompiledIndex,
  conditions: QueryFields["conditions"],
): QueryFields["conditions"] {
  return new Map(
    [...conditions].filter(
      ([name, condition]) => !isCondition(index, name, condition) || isInKey(index, name),
    ),
  );
}

/** True if all rows of an index meet a condition. */
function isCondition(
  { condition: selected }: CompiledIndex,
  name: string,
  { isEqual, values }: FieldCondition,
): boolean {
  return (
    isEqual &&
    selected !== undefined &&
    Object.hasOwn(selected, name) &&
    selected[name] === values?.[0]
  );
}

function isInKey({ fields }: CompiledIndex, name: string): boolean {
  return fields.includes(name);
}

function isServed(fields: readonly KeyField[], conditions: QueryFields["conditions"]): boolean {
  let served = 0;
  for (const { name, sameAs } of fields) {
    if (served === conditions.size) return true;
    if (sameAs !== undefined) continue;
    const condition = conditions.get(name);
    if (condition === undefined || condition.isNull) return false;
    served++;
    if (condition.values === undefined) break;
  }
  return served === conditions.size;
}

/** Returns the reading direction of a plan. Undefined if the keys are not in the query's order. */
function readsBackward(
  index: CompiledIndex | undefined,
  fields: readonly KeyField[],
  alternatives: readonly QueryFields[],
): boolean | undefined {
  const { order = noOrder, direction } = alternatives[0] ?? {};
  if (direction !== undefined) return direction === "desc";
  if (order.size === 0) return false;
  const pinned = sharedFields(alternatives);
  const remaining: KeyField[] = [];
  const known = new Set(Object.keys(index?.condition ?? {}));
  for (const field of fields) {
    known.add(field.name);
    if (field.sameAs === undefined && !pinned.has(field.name)) remaining.push(field);
  }
  let position = 0;
  let reverse: boolean | undefined;
  for (const [name, wanted] of order) {
    if (pinned.has(name) && known.has(name)) continue;
    const field = remaining[position++];
    if (field?.name !== name) return undefined;
    const isBackward = (wanted === "desc") !== field.descending;
    reverse ??= isBackward;
    if (isBackward !== reverse) return undefined;
  }
  if (reverse !== undefined) return reverse;
  // A field with one value has no order. But its direction may still say in which direction the
  // fields after it are read.
  const first = fields.find(({ name }) => order.has(name));
  return first !== undefined && (order.get(first.name) === "desc") !== first.descending;
}

const noOrder: ReadonlyMap<string, Direction> = new Map();

/** Returns the fields that have the same single value in all alternatives of a query. */
export function sharedFields([first, ...others]: readonly QueryFields[]): ReadonlySet<string> {
  const shared = new Set<string>();
  for (const [name, condition] of first?.conditions ?? []) {
    if (!condition.isEqual) continue;
    const hasValue = ({ conditions }: QueryFields) => hasSameValue(conditions.get(name), condition);
    if (others.every(hasValue)) shared.add(name);
  }
  return shared;
}

function hasSameValue(a: FieldCondition | undefined, b: FieldCondition): boolean {
  if (!a?.isEqual) return false;
  return a.isNull || b.isNull
    ? a.isNull === b.isNull
    : isSamePart(keyPartOf(a.values?.[0]), keyPartOf(b.values?.[0]));
}

/**
 * True if an index has all rows that a query asks for. A row that lacks a field of the index is not
 * in it, and a row with an array has any number of entries, so the query must name such fields. If
 * the index has a `where`, the query must have the same conditions.
 */
export function isComplete(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { conditions, order }: QueryFields,
): boolean {
  if (index === undefined) return true;
  if (index.unmarked !== undefined && leavesOutMore(model, index)) return false;
  if (index.where !== undefined) {
    const selected = Object.keys(index.condition ?? {});
    const isAsked = (name: string) => {
      const condition = conditions.get(name);
      return condition !== undefined && isCondition(index, name, condition);
    };
    if (selected.length === 0 || !selected.every(isAsked)) return false;
  }
  for (const [position, { field, compute }] of index.parts.entries()) {
    if (conditions.has(field)) continue;
    if (index.each === position) return false;
    if (compute === undefined ? model.optionalFields.has(field) : !order.has(field)) return false;
  }
  return true;
}

function namesOf({ conditions, order }: QueryFields): string[] {
  return [...conditions.keys(), ...order.keys()];
}

/** Counts 2 for each field with a value, and 1 for bounds, in the segment that has the least. */
function pinnedFields(segments: QueryPlan["segments"]): number {
  const counts = segments.map(({ equals, interval }) => {
    const isBounded = interval.start !== undefined || interval.end !== undefined;
    return equals.length * 2 + (isBounded || interval.isEmpty ? 1 : 0);
  });
  return counts.length === 0 ? 0 : Math.min(...counts);
}

/** Sorts plans by their ranks, the highest first. Plans of the same rank keep their order. */
function sortByRank(
  plans: readonly QueryPlan[],
  rankOf: (plan: QueryPlan) => readonly number[],
): QueryPlan[] {
  return plans
    .map((plan) => ({ plan, rank: rankOf(plan) }))
    .sort((a, b) => compareRanks(b.rank, a.rank))
    .map(({ plan }) => plan);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) {
    const difference = value - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Returns the indexes that queries use: those that the model declares. */
function declaredIndexes({ indexes }: CompiledModel): readonly CompiledIndex[] {
  return indexes.filter(({ isHidden }) => !isHidden);
}

export function existingKeys(model: CompiledModel, fields: QueryFields): ExistingKey[] {
  const serving = [undefined, ...declaredIndexes(model)].filter(
    (index) => planOf(model, index, [fields]) !== undefined,
  );
  return serving.map((index) => ({ index, isComplete: isComplete(model, index, fields) }));
}

export function unindexedError(
  model: CompiledModel,
  alternatives: readonly QueryFields[],
): UnindexedQueryError {
  const find = (queried: QueryFields) => existingKeys(model, queried);
  const isUnserved = (fields: QueryFields) => !find(fields).some(({ isComplete }) => isComplete);
  const unserved = alternatives.find(isUnserved);
  if (alternatives.length > 1 && unserved === undefined) {
    return unmergedQuery(model, new Set(alternatives.flatMap(namesOf)));
  }
  const fields = unserved ?? alternatives[0]!;
  for (const [field, { has, isNull }] of fields.conditions) {
    const schema = model.schema.shape[field];
    if (schema === undefined || isNull) continue;
    // No index could serve these conditions, so none is suggested.
    const isElement = isList(schema) || (has && canBeList(schema));
    assertFits({ isElement, isComputed: false }, has, (reason) => {
      throw new InvalidQueryError(model.name, field, reason);
    });
  }
  return unindexedQuery(model, fields, find);
}
