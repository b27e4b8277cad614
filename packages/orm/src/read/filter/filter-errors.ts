import { UnindexedQueryError } from "../../errors/query-errors.js";
import type { ReadView } from "../../state/context/read-view.js";
import { parseQuery } from "../plan/fields/query-fields.js";
import { codeOf, freeName, nameOf } from "../plan/suggest/suggest-index.js";
import type { FilterPlan } from "./filter-plan.js";
import type { RelatedFilter } from "./related-filter.js";

/** Returns the error for a condition on related rows that no index serves. */
export function unservedFilter(
  { model }: ReadView,
  { link, condition }: RelatedFilter,
  error: UnindexedQueryError | undefined,
): UnindexedQueryError {
  return unserved(model.name, { link, condition }, error?.model, error?.suggestion);
}

/**
 * Returns the error for a query whose rows neither an index of its model nor a condition finds. The
 * first condition that could find them with another index decides what it suggests.
 */
export function unservedSearch(
  view: ReadView,
  filters: readonly RelatedFilter[],
  plans: readonly FilterPlan[],
): UnindexedQueryError {
  const { model } = view;
  for (const [i, filter] of filters.entries()) {
    if (filter.isNegated || filter.query === undefined) continue;
    const code = walkedIndexCode(view, filter);
    if (code !== undefined) return unserved(model.name, filter, filter.link.target.name, code);
    const { error } = plans[i]!;
    if (error !== undefined) return unservedFilter(view, filter, error);
  }
  const names = filters.map(({ link }) => link.name);
  const [field = ""] = model.primaryKey;
  const advice = `order by the primary key, orderBy: { ${field}: "asc" }, to read every row`;
  const conditions = filters.map(({ link, condition }) => `${link.name}.${condition}`).join(", ");
  return new UnindexedQueryError(model.name, names, `// ${advice}`, () => {
    return `${conditions} can only be tested, and nothing else finds rows; add a condition that an index serves, or ${advice}`;
  });
}

function unserved(
  model: string,
  { link, condition }: Pick<RelatedFilter, "link" | "condition">,
  holder = link.target.name,
  suggestion = "",
): UnindexedQueryError {
  const isCode = suggestion !== "" && !suggestion.startsWith("//");
  const advice = isCode ? `add ${suggestion} to ${holder}` : `add an index to ${holder}`;
  return new UnindexedQueryError(model, [link.name], suggestion, () => {
    return `no index serves the condition ${link.name}.${condition}; ${advice}`;
  });
}

/**
 * Returns the code of an index that finds rows by a condition on rows that refer to them. Undefined
 * if there is no such index, because the condition is not one of values.
 */
function walkedIndexCode(view: ReadView, { link, query }: RelatedFilter): string | undefined {
  const { relation } = link;
  if (relation.kind !== "hasMany" && relation.kind !== "hasOne") return undefined;
  const { model, scope = {} } = view.of(link.target);
  const [{ conditions }, ...others] = parseQuery(model, { where: query?.where });
  const isOfValues = [...conditions.values()].every(
    ({ values, has, isNull }) => values !== undefined && !has && !isNull,
  );
  if (others.length > 0 || conditions.size === 0 || !isOfValues) return undefined;
  const fields = [...new Set([...Object.keys(scope), ...conditions.keys(), ...relation.fields])];
  const key = fields.map((field) => JSON.stringify(field));
  return codeOf(freeName(model, nameOf(fields)), key, []);
}
