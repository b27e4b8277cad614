import type { RowsQuery } from "../../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../../src/protocol/studio-info.js";
import { parseValue } from "../../../values/parse-value.js";
import {
  chosenIndex,
  type KeyField,
  keyFields,
  operators,
  type QueryState,
} from "./query-state.js";

/** A query, or the field whose condition cannot be read. */
export type BuiltQuery =
  | { readonly query: RowsQuery; readonly own: Readonly<Record<string, unknown>> }
  | { readonly message: string };

/**
 * Returns the query of a list, without `take` and `cursor`. `own` has the conditions without those
 * that the index always has.
 */
export function buildQuery(model: ModelInfo, state: QueryState): BuiltQuery {
  const index = chosenIndex(model, state);
  if (state.index !== null && index === null) {
    return { message: `There is no index ${state.index}.` };
  }
  const own: Record<string, unknown> = {};
  const fields = keyFields(model, state);
  let fixed = 0;
  for (const field of fields) {
    const read = conditionOf(field, state);
    if ("message" in read) return read;
    if (read.condition === undefined) break;
    own[field.name] = field.isEach ? { has: read.condition } : read.condition;
    if (!read.isFixed) break;
    fixed += 1;
  }
  const where = { ...index?.where, ...own };
  const orderBy = orderOf(model, fields.slice(fixed), own, state);
  const query: RowsQuery = {
    ...(Object.keys(where).length > 0 && { where }),
    ...(index !== null && { index: index.name }),
    ...(orderBy !== undefined && { orderBy }),
    ...(state.withDeleted && { withDeleted: true }),
  };
  return { query, own };
}

type Read =
  | { readonly condition: unknown; readonly isFixed: boolean }
  | { readonly message: string };

/** Returns undefined as the condition if there is none. */
function conditionOf(field: KeyField, state: QueryState): Read {
  const texts = state.conditions[field.name] ?? {};
  const bounds: Record<string, unknown> = {};
  for (const operator of operators) {
    const text = texts[operator];
    if (text === undefined || text === "") continue;
    const parsed = parseValue(field.info, text);
    if (!parsed.ok) return { message: `${field.name}: ${parsed.message}` };
    if (operator === "eq") return { condition: parsed.value, isFixed: true };
    bounds[operator] = parsed.value;
  }
  const hasBounds = Object.keys(bounds).length > 0;
  return { condition: hasBounds ? bounds : undefined, isFixed: false };
}

/** The elements of an array have no order by the array. */
function orderOf(
  model: ModelInfo,
  free: readonly KeyField[],
  own: Readonly<Record<string, unknown>>,
  state: QueryState,
): RowsQuery["orderBy"] {
  const [first] = free;
  if (first !== undefined) {
    if (first.isEach) return undefined;
    return { [first.name]: state.order ?? (first.isDescending ? "desc" : "asc") };
  }
  const field = model.primaryKey.find((name) => !(name in own)) ?? model.primaryKey[0];
  return field === undefined ? undefined : { [field]: state.order ?? "asc" };
}
