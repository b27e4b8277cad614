import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { Scope } from "../../state/context/scope.js";
import type { FieldCondition } from "../plan/fields/field-condition.js";
import { keyFields } from "../plan/fields/key-fields.js";
import { alternativesOf, parseQuery } from "../plan/fields/query-fields.js";
import { isComplete, planOf } from "../plan/plan-query.js";
import { type QueryPlan, readsMarkedRows } from "../plan/ranges/query-plan.js";

/**
 * Returns a plan for conditions by an index whose keys continue with `fields`, which hold the
 * primary key of another model. In each segment of the plan, the entries are in the order of this
 * primary key. Undefined if there is no such index that can be read.
 *
 * Within a scope, the conditions of the scope belong to the plan, so that it has only entries of
 * the scope. Then the first fields may be those of the scope, if the plan has their values.
 *
 * @param where conditions with values. Rows that lack one of the fields need not be in the index.
 */
export function walkedIndex(
  view: ReadView,
  where: AnyRow,
  fields: readonly string[],
): QueryPlan | undefined {
  const { scope } = view;
  const model = view.queriedModel;
  if (alternativesOf(model, where).length > 1) return undefined;
  const [query] = parseQuery(model, { where: { ...scope, ...where, ...scope } });
  const free = fields.slice(countScoped(scope, fields));
  // The fields have one value for each row, whatever it is.
  const conditions = new Map(query.conditions);
  for (const field of fields) conditions.set(field, anyValue);
  const whole = { ...query, conditions };
  const candidates = [undefined, ...model.indexes.filter(({ isHidden }) => !isHidden)];
  for (const index of candidates) {
    // Nor can it tell which rows are marked as deleted.
    if (readsMarkedRows(view, index)) continue;
    if (!view.canRead(index) || !isComplete(model, index, whole)) continue;
    const plan = planOf(model, index, [query]);
    if (plan !== undefined && continuesWith(model, index, plan, free)) return plan;
  }
  return undefined;
}

/** Returns how many of the first fields are fields of a scope. */
export function countScoped(scope: Scope | undefined, fields: readonly string[]): number {
  const free = fields.findIndex((field) => scope === undefined || !Object.hasOwn(scope, field));
  return free < 0 ? fields.length : free;
}

const anyValue: FieldCondition = {
  values: [""],
  isEqual: true,
  isNull: false,
  bounds: {},
  has: false,
};

function continuesWith(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { segments }: QueryPlan,
  fields: readonly string[],
): boolean {
  const length = segments[0]?.equals.length ?? 0;
  const isBounded = segments.some(({ equals, interval }) => {
    const { start, end, isEmpty } = interval;
    return equals.length !== length || start !== undefined || end !== undefined || isEmpty;
  });
  if (isBounded) return false;
  const next = keyFields(model, index).slice(length, length + fields.length);
  return (
    next.length === fields.length &&
    next.every(({ name, descending, isNormalized, isComputed, isElement, sameAs }, i) => {
      const isAsStored = !descending && !isNormalized && !isComputed && !isElement;
      return name === fields[i] && isAsStored && sameAs === undefined;
    })
  );
}
