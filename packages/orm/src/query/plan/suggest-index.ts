import type { Direction } from "../../context/any-query.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { canBeAbsent } from "../../model/field-schema.js";
import { canBeInKey, canBeList, canHoldElements, isList } from "../../model/key-kinds.js";
import type { FieldCondition } from "./field-condition.js";
import type { QueryFields } from "./query-fields.js";

/** An index of the model, or its primary key, that serves a query. */
export interface ExistingKey {
  /** Undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
  /** True if it has every row that the query asks for. */
  readonly isComplete: boolean;
}

/** A part of a key that would serve a query. */
interface SuggestedPart {
  /** The name that the query uses for the part. */
  readonly field: string;
  readonly descending: boolean;
}

/** A key that would serve a query, except for some of its conditions. */
interface SuggestedKey {
  readonly parts: readonly SuggestedPart[];
  /** The fields whose conditions the key does not serve. */
  readonly leftOver: readonly string[];
}

/**
 * Returns the code of an index that would serve a query. A comment after the code names the
 * conditions that must move to `filter`, and says if the query must name the index because it may
 * lack rows. If the model already has such an index, returns how to use it.
 *
 * Example: `byTeamAndScore: { key: ["team", desc("score")] }`
 *
 * @param find returns the keys of the model that serve a query, including those that lack rows.
 */
export function suggestIndex(
  model: CompiledModel,
  query: QueryFields,
  find: (query: QueryFields) => readonly ExistingKey[],
): string {
  const { parts, leftOver } = suggestedKey(model, query);
  const conditions = new Map([...query.conditions].filter(([name]) => !leftOver.includes(name)));
  const filter = leftOver.length === 0 ? "" : `filter by ${leftOver.join(", ")}`;
  const existing = find({ conditions, order: query.order });
  const complete = existing.find(({ isComplete }) => isComplete);
  if (complete !== undefined) {
    const { index } = complete;
    const name = index === undefined ? "the primary key" : index.name;
    if (filter !== "") return `// ${filter}: ${name} serves the rest`;
    return index === undefined
      ? "// name no index: the primary key serves it"
      : indexOption(index.name);
  }
  const fields = parts.map(({ field }) => field);
  const same = existing.find(({ index }) => index && hasSameFields(index, fields))?.index;
  if (same !== undefined) return withComment(indexOption(same.name), filter);
  const { name, code } = suggestedIndex(model, query, parts);
  const lacksRows = fields.some((field) => !conditions.has(field) && mayLack(model, field));
  const hint = lacksRows ? `with ${indexOption(name)}` : "";
  return withComment(code, [hint, filter].filter((text) => text !== "").join(", and "));
}

/** Returns the code of a unique index over some fields. */
export function suggestUniqueIndex(fields: readonly string[]): string {
  return codeOf(
    nameOf(fields),
    fields.map((field) => JSON.stringify(field)),
    ["unique: true"],
  );
}

function suggestedKey(model: CompiledModel, query: QueryFields): SuggestedKey {
  const { conditions, order } = query;
  const fields: string[] = [];
  // A key has at most one array, and at most one computed part.
  const excludes = (a: string, b: string) =>
    (isArray(model, query, a) && isArray(model, query, b)) ||
    (isComputed(model, a) && isComputed(model, b));
  const tryAdd = (name: string): boolean => {
    if (fields.includes(name)) return true;
    if (fields.some((other) => excludes(name, other))) return false;
    fields.push(name);
    return true;
  };
  const fieldsWith = (matches: (condition: FieldCondition) => boolean) =>
    [...conditions].filter(([, condition]) => matches(condition)).map(([name]) => name);
  const equal = fieldsWith(({ isEqual }) => isEqual).sort(
    (a, b) => Number(order.has(b)) - Number(order.has(a)),
  );
  // An order cannot be left to a filter, so its fields come before the fields that they exclude.
  const isFree = (name: string) => order.has(name) && !equal.includes(name);
  const ordered = [...order.keys()].filter(isFree);
  const isExcluded = (name: string) => ordered.some((other) => excludes(name, other));
  const served = new Set(equal.filter((name) => !isExcluded(name) && tryAdd(name)));
  fields.sort((a, b) => model.primaryKey.indexOf(a) - model.primaryKey.indexOf(b));
  const free = [...order].filter(([name]) => !served.has(name));
  // Conditions are served up to the first field that has no condition, or has bounds.
  let isOpen = true;
  for (const [name] of free) {
    if (!tryAdd(name)) continue;
    const condition = conditions.get(name);
    if (isOpen && condition !== undefined) served.add(name);
    isOpen &&= condition?.values !== undefined;
  }
  if (isOpen) {
    for (const name of fieldsWith(({ values, isEqual }) => values !== undefined && !isEqual)) {
      if (tryAdd(name)) served.add(name);
    }
    const bounded = fieldsWith(({ values }) => values === undefined);
    const range = bounded.find((name) => !model.primaryKey.includes(name)) ?? bounded[0];
    if (range !== undefined && tryAdd(range)) served.add(range);
  }
  return {
    parts: withoutPrimaryKey(model, partsOf(model, query, fields, new Map(free))),
    leftOver: [...conditions.keys()].filter((name) => !served.has(name)),
  };
}

/** Returns the parts of a key that has the requested order if it is read forward or backward. */
function partsOf(
  model: CompiledModel,
  query: QueryFields,
  fields: readonly string[],
  order: ReadonlyMap<string, Direction>,
): SuggestedPart[] {
  const ordered = fields.filter((field) => order.has(field));
  // An array and a computed part cannot be descending. If there is one, its direction is the main
  // direction, and the parts with the other direction are descending.
  const fixed = ordered.find((field) => isArray(model, query, field) || isComputed(model, field));
  const main = order.get(fixed ?? ordered[0] ?? "");
  return fields.map((field) => ({
    field,
    descending: order.has(field) && order.get(field) !== main,
  }));
}

/**
 * Removes the fields of the primary key from the end of a key, because an index that is not unique
 * has them there anyway.
 */
function withoutPrimaryKey(
  { primaryKey }: CompiledModel,
  parts: readonly SuggestedPart[],
): readonly SuggestedPart[] {
  for (let count = Math.min(primaryKey.length, parts.length - 1); count > 0; count--) {
    const end = parts.slice(-count);
    const isPrimaryKey = end.every((part, i) => part.field === primaryKey[i] && !part.descending);
    if (isPrimaryKey) return parts.slice(0, -count);
  }
  return parts;
}

function suggestedIndex(
  model: CompiledModel,
  query: QueryFields,
  parts: readonly SuggestedPart[],
): { readonly name: string; readonly code: string } {
  const fields = parts.map(({ field }) => field);
  const computed = fields.find((field) => isComputed(model, field));
  // Queries name a computed part by the name of its index.
  const isNamed = computed !== undefined && !Object.hasOwn(model.schema.shape, computed);
  const name = isNamed ? computed : freeName(model, nameOf(fields));
  const key = parts.map(({ field, descending }) => {
    if (field === computed) return "(row) => …";
    return descending ? `desc(${JSON.stringify(field)})` : JSON.stringify(field);
  });
  const isEach = fields.some((field) => isArray(model, query, field));
  return { name, code: codeOf(name, key, isEach ? ["each: true"] : []) };
}

function codeOf(name: string, key: readonly string[], options: readonly string[]): string {
  const keyText = key.length === 1 ? key[0] : `[${key.join(", ")}]`;
  const property = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name)
    ? name
    : JSON.stringify(name);
  return `${property}: { ${[`key: ${keyText}`, ...options].join(", ")} }`;
}

function nameOf(fields: readonly string[]): string {
  return `by${fields.map((field) => field.charAt(0).toUpperCase() + field.slice(1)).join("And")}`;
}

/** Returns a name that no index of the model has: `name`, or `name` with a number. */
function freeName({ indexes }: CompiledModel, name: string): string {
  const isTaken = (text: string) => indexes.some((index) => index.name === text);
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name}${n}`;
  return free;
}

function indexOption(index: string): string {
  return `index: ${JSON.stringify(index)}`;
}

function withComment(code: string, comment: string): string {
  if (comment === "") return code;
  return comment.startsWith("with ") ? `${code} // ${comment}` : `${code} // and ${comment}`;
}

function hasSameFields(index: CompiledIndex, fields: readonly string[]): boolean {
  return (
    index.fields.length === fields.length && fields.every((field) => index.fields.includes(field))
  );
}

/** True if a row may have no entry, or several entries, because of a field without a condition. */
function mayLack(model: CompiledModel, field: string): boolean {
  const schema = model.schema.shape[field];
  return schema !== undefined && (isList(schema) || canBeAbsent(schema));
}

/**
 * True if a part is the array of its index: a field that is an array according to its schema or its
 * condition, or the computed array of an existing index.
 */
function isArray(model: CompiledModel, { conditions }: QueryFields, field: string): boolean {
  const schema = model.schema.shape[field];
  if (schema !== undefined) return isList(schema) || conditions.get(field)?.has === true;
  return model.indexes.some(({ fields, each }) => each !== undefined && fields[each] === field);
}

/**
 * True if a part must be computed: it is the computed part of an existing index, or a field whose
 * values a key cannot hold.
 */
function isComputed(model: CompiledModel, field: string): boolean {
  const schema = model.schema.shape[field];
  if (schema === undefined) return true;
  return isList(schema) ? !canHoldElements(schema) : !canBeInKey(schema) && !canBeList(schema);
}
