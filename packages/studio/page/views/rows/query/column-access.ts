import type { FieldInfo, IndexInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import { keyFields, type QueryState } from "./query-state.js";

/** A list that an index serves: with its order and conditions on a column. */
export interface ColumnList {
  /** The list. The conditions that the index does not serve are left out. */
  readonly state: QueryState;
  /** The name of the index, or `primary key`. */
  readonly by: string;
  /** The rows that the index has, for people. Null if it has all rows. */
  readonly condition: string | null;
  /** True if the index has an entry for each element, so that it filters and does not sort. */
  readonly isEach: boolean;
}

/**
 * Returns the list that filters and sorts by a column, or null if no index serves it. It keeps the
 * conditions of the current list if an index has their fields before the column.
 */
export function listBy(model: ModelInfo, current: QueryState, column: string): ColumnList | null {
  const fixed = keyFields(model, current)
    .map(({ name }) => name)
    .filter((name) => name !== column && (current.conditions[name]?.eq ?? "") !== "");
  return find(model, current, fixed, column) ?? find(model, current, [], column);
}

/** Returns what to add to the model so that an index serves a column, or why none can. */
export function missingIndex({ name, kind, type }: FieldInfo): string {
  const isArray = kind === "data" && type.endsWith("[]");
  if (kind === "data" && !isArray) return `No index can have ${name}, because it is an object.`;
  const definition = isArray ? `key: "${name}", each: true` : `key: "${name}"`;
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return `No index begins with ${name}. Add one to the model: by${title}: { ${definition} }`;
}

function find(
  model: ModelInfo,
  current: QueryState,
  fixed: readonly string[],
  column: string,
): ColumnList | null {
  const begins = (names: readonly string[]) =>
    fixed.every((name) => names.slice(0, fixed.length).includes(name)) &&
    names[fixed.length] === column;
  const kept = Object.fromEntries(fixed.map((name) => [name, current.conditions[name] ?? {}]));
  const state = { ...current, conditions: kept, order: null };
  if (begins(model.primaryKey))
    return { state: { ...state, index: null }, by: "primary key", condition: null, isEach: false };
  const served = model.indexes.filter(
    (index) =>
      index.isQueryable &&
      index.state === "readable" &&
      begins(index.fields.map(({ name }) => name)),
  );
  // An index with a condition lacks some of the rows.
  const [best] = served.sort((a, b) => Number(lacksRows(a)) - Number(lacksRows(b)));
  if (best === undefined) return null;
  const { name, condition, each } = best;
  return { state: { ...state, index: name }, by: name, condition, isEach: each === column };
}

function lacksRows({ condition }: IndexInfo): boolean {
  return condition !== null;
}
