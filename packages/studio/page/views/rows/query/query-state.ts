import type { FieldInfo, IndexInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";

export const operators = ["eq", "gte", "gt", "lte", "lt", "startsWith"] as const;

export type Operator = (typeof operators)[number];

/** The typed conditions on one field: a text for each operator. */
export type FieldConditions = Readonly<Partial<Record<Operator, string>>>;

/** The list that the address of the rows view describes. */
export interface QueryState {
  /** The name of the index, or null for the primary key. */
  readonly index: string | null;
  readonly conditions: Readonly<Record<string, FieldConditions>>;
  /** The order of the first field that has no single value. Null is that of the index. */
  readonly order: "asc" | "desc" | null;
  readonly withDeleted: boolean;
  /** The query of a search, if a full-text index is chosen. Empty for a list. */
  readonly search: string;
}

/** A field of the chosen index or primary key. */
export interface KeyField {
  readonly name: string;
  readonly isDescending: boolean;
  /** True if the index has an entry for each element of the field. */
  readonly isEach: boolean;
  readonly info: FieldInfo;
}

/** Returns the list that an address describes. */
export function queryStateIn(params: URLSearchParams): QueryState {
  const conditions: Record<string, FieldConditions> = {};
  for (const [name, text] of params) {
    const dot = name.lastIndexOf(".");
    const operator = operators.find((each) => each === name.slice(dot + 1));
    if (dot < 1 || operator === undefined) continue;
    const field = name.slice(0, dot);
    conditions[field] = { ...conditions[field], [operator]: text };
  }
  const order = params.get("order");
  return {
    index: params.get("index"),
    conditions,
    order: order === "asc" || order === "desc" ? order : null,
    withDeleted: params.has("deleted"),
    search: params.get("search") ?? "",
  };
}

/** Returns the parameters of an address that describes the list. */
export function queryParams(state: QueryState): URLSearchParams {
  const params = new URLSearchParams();
  if (state.index !== null) params.set("index", state.index);
  for (const [field, conditions] of Object.entries(state.conditions)) {
    for (const [operator, text] of Object.entries(conditions)) {
      if (text !== undefined && text !== "") params.set(`${field}.${operator}`, text);
    }
  }
  if (state.order !== null) params.set("order", state.order);
  if (state.withDeleted) params.set("deleted", "yes");
  if (state.search !== "") params.set("search", state.search);
  return params;
}

/** Returns the chosen index, or null for the primary key. */
export function chosenIndex(model: ModelInfo, state: QueryState): IndexInfo | null {
  return model.indexes.find(({ name }) => name === state.index) ?? null;
}

/** True for a full-text index, which serves searches and no lists. */
export function isTextIndex(index: IndexInfo | null): boolean {
  return index !== null && index.text !== null;
}

/** Returns the fields of the chosen index or of the primary key, in their order. */
export function keyFields(model: ModelInfo, state: QueryState): KeyField[] {
  const index = chosenIndex(model, state);
  const fields = index?.fields ?? model.primaryKey.map((name) => ({ name, isDescending: false }));
  return fields.map(({ name, isDescending }) => {
    const isEach = index?.each === name;
    return { name, isDescending, isEach, info: infoOf(model, name, isEach) };
  });
}

function infoOf(model: ModelInfo, name: string, isEach: boolean): FieldInfo {
  const info = model.fields.find((field) => field.name === name) ?? unknownField(name);
  return isEach ? { ...info, kind: elementKind(info.type), choices: [] } : info;
}

/** Only the text of the type says what the elements of an array are. */
function elementKind(type: string): FieldInfo["kind"] {
  const element = type.replace(/^readonly /, "").replace(/\[\]$/, "");
  if (element === "number" || element === "bigint" || element === "boolean") return element;
  return element === "Date" ? "date" : "string";
}

function unknownField(name: string): FieldInfo {
  return {
    name,
    kind: "string",
    type: "",
    isOptional: false,
    isNullable: false,
    hasDefault: false,
    copied: null,
    choices: [],
    description: null,
  };
}
