import { UnindexedQueryError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { kindOf, type ValueKind } from "../../model/fields/value-kind.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedQuery } from "../../state/context/scope.js";
import { plansOf, readablePlan } from "../plan/choose-plan.js";
import { assertKinds } from "../plan/fields/queried-value.js";
import { planQuery } from "../plan/plan-query.js";
import type { Plan, QueryPlan } from "../plan/ranges/query-plan.js";
import type { RelatedConditions, RelatedFilter } from "./related-filter.js";
import { walkedIndex } from "./walked-index.js";

/** How the rows that a condition leads to are read. */
export interface FilterPlan {
  /**
   * How a row is tested: its related rows are looked up, or all related rows that meet the
   * condition are collected first. Undefined if no index serves either.
   */
  readonly test: "lookup" | "collect" | undefined;
  /**
   * How the condition finds rows in the order of their keys: by the entries of an index that has
   * them in this order, or by collecting them. Undefined if no index serves either.
   */
  readonly find: "walk" | "collect" | undefined;
  /** The index of the lookups, for one row. Undefined if there are none. */
  readonly lookup: QueryPlan | undefined;
  /** The index that is walked. Undefined if none is. */
  readonly walked: QueryPlan | undefined;
  /** The plan of the related rows that meet the conditions. Undefined if no index serves it. */
  readonly related: Plan | undefined;
  /** The error of a condition that no index serves, on the model that lacks the index. */
  readonly error: UnindexedQueryError | undefined;
}

/**
 * Plans a condition on related rows. An index that leads from a row to its related rows is
 * preferred for tests, and an index in the order of the rows to find them.
 *
 * @throws {InvalidQueryError} if a condition is not valid.
 */
export function planFilter(view: ReadView, filter: RelatedFilter): FilterPlan {
  const { relation } = filter.link;
  if (relation.kind === "belongsTo") return planReferences(view, filter, relation.fields);
  if (relation.kind === "manyToMany") {
    return planThrough(view, filter, relation.from, relation.to);
  }
  return planReferring(view, filter, relation.fields);
}

/** For `hasMany` and `hasOne`: the fields of the related rows hold the primary key. */
function planReferring(
  view: ReadView,
  { link, isNegated, query }: RelatedFilter,
  fields: readonly string[],
): FilterPlan {
  const child = view.of(link.target);
  const where = query?.where ?? {};
  const values = exampleValues(child.model, fields);
  const lookup = attempt(() => lookupPlan(child, where, values, query));
  const related = query && attempt(() => relatedPlan(child, query));
  const walked = isNegated ? undefined : walkedIndex(child, where, fields);
  const canCollect = related?.result !== undefined;
  return {
    test: lookup.result ? "lookup" : canCollect ? "collect" : undefined,
    find: isNegated ? undefined : walked ? "walk" : canCollect ? "collect" : undefined,
    lookup: lookup.result,
    walked,
    related: related?.result,
    error: lookup.error ?? related?.error,
  };
}

/** For `belongsTo`: the fields of the row hold the primary key of the related row. */
function planReferences(
  view: ReadView,
  { link, isNegated, query }: RelatedFilter,
  fields: readonly string[],
): FilterPlan {
  const target = view.of(link.target);
  const tested = query && attempt(() => assertTestable(target, query));
  const related = query && attempt(() => relatedPlan(target, query));
  const isFound = !isNegated && related?.result !== undefined;
  const values = exampleValues(view.model, fields);
  const walked = isFound ? walkedIndex(view, values, view.model.primaryKey) : undefined;
  // The index leaves rows out that are marked as deleted.
  const canCollect = isFound && !view.withDeleted;
  return {
    test: tested?.error === undefined ? "lookup" : undefined,
    find: walked ? "walk" : canCollect ? "collect" : undefined,
    lookup: undefined,
    walked,
    related: related?.result,
    error: tested?.error ?? related?.error,
  };
}

/** For `manyToMany`: rows of a third model refer to both. */
function planThrough(
  view: ReadView,
  { link, isNegated, query }: RelatedFilter,
  from: readonly string[],
  to: readonly string[],
): FilterPlan {
  const target = view.of(link.target);
  const through = view.of(link.through ?? link.target);
  const related = query && attempt(() => relatedPlan(target, query));
  const toValues = query === undefined ? {} : exampleValues(through.model, to);
  const values = { ...toValues, ...exampleValues(through.model, from) };
  const lookup = attempt(() => lookupPlan(through, {}, values, undefined));
  const byTarget = query && attempt(() => lookupPlan(through, {}, toValues, undefined));
  const isServed = query === undefined || related?.result !== undefined;
  const walked = isNegated || !isServed ? undefined : walkedIndex(through, toValues, from);
  // Several fields cannot be looked up for a list of rows.
  const canLookUp = lookup.result !== undefined && (query === undefined || to.length === 1);
  const canCollect = byTarget?.result !== undefined;
  return {
    test: !isServed ? undefined : canLookUp ? "lookup" : canCollect ? "collect" : undefined,
    find: isNegated || !isServed ? undefined : walked ? "walk" : canCollect ? "collect" : undefined,
    lookup: lookup.result,
    walked,
    related: related?.result,
    error: related?.error ?? lookup.error ?? byTarget?.error,
  };
}

/** Returns the plan of the rows with conditions and with values for the fields of a relation. */
function lookupPlan(
  view: ReadView,
  where: AnyRow,
  values: AnyRow,
  query: RelatedConditions | undefined,
): QueryPlan {
  // The values of the scope replace those of the relation, which are only examples.
  const { where: scoped } = scopedQuery(view, { where });
  const all = { ...values, ...where, ...scoped };
  const plans = planQuery(view.queriedModel, { where: all });
  assertKinds(view.model, where, plans);
  query?.related?.assertServed(view, false);
  return readablePlan(view, plans);
}

/** Returns the plan that finds the rows that meet some conditions. */
function relatedPlan(view: ReadView, query: RelatedConditions): Plan {
  return readablePlan(view, plansOf(view, query));
}

/** Checks that the conditions can be tested on a row that is known. */
function assertTestable(view: ReadView, { where, related }: RelatedConditions): void {
  if (where !== undefined && Object.keys(where).length > 0) plansOf(view, { where });
  related?.assertServed(view, false);
}

interface Attempt<T> {
  readonly result?: T;
  readonly error?: UnindexedQueryError;
}

/** Plans a query. If no index serves it, returns the error. Other errors are thrown. */
function attempt<T>(plan: () => T): Attempt<T> {
  try {
    return { result: plan() };
  } catch (error) {
    if (error instanceof UnindexedQueryError) return { error };
    throw error;
  }
}

const examples: Readonly<Record<ValueKind, unknown>> = {
  string: "",
  number: 0,
  bigint: 0n,
  boolean: false,
  date: new Date(0),
  bytes: new Uint8Array(),
};

/**
 * Returns a value for each of some fields, of the kind of the field, to plan queries whose values
 * are those of rows that have not been read yet.
 */
function exampleValues(
  { schema }: CompiledModel,
  fields: readonly string[],
): Record<string, unknown> {
  const values = fields.map((field) => {
    const type = schema.shape[field];
    const kind = type === undefined ? undefined : kindOf(type);
    return [field, kind === undefined ? "" : examples[kind]] as const;
  });
  return Object.fromEntries(values);
}
