import type { Direction } from "../../context/any-query.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { canBeAbsent } from "../../model/field-schema.js";
import { canBeInKey, canBeList, canHoldElements, isList } from "../../model/key-kinds.js";
import type { Condition } from "./condition.js";
import type { QueryFields } from "./query-fields.js";

/** What a model has already that serves a query. */
export interface ExistingKey {
  /** Undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
  /** It has every row that the query means. */
  readonly isComplete: boolean;
}

/** A part of a key that would serve a query. */
interface SuggestedPart {
  /** By which the query names it. */
  readonly field: string;
  readonly descending: boolean;
}

/** A key that would serve a query, but for some of its conditions. */
interface SuggestedKey {
  readonly parts: readonly SuggestedPart[];
  /** The fields whose conditions it does not serve. */
  readonly leftOver: readonly string[];
}

/**
 * An index, in code, that would serve a query: `byTeamAndScore: { key: ["team", desc("score")] }`. A comment behind it says
 * by what to filter, and that the query has to name it where rows may be missing in it. Where the model has such an index
 * already, how to ask for it.
 *
 * @param find what the model has that serves a query, whichever rows it lacks.
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
    return index === undefined ? "// name no index: the primary key serves it" : named(index.name);
  }
  const fields = parts.map(({ field }) => field);
  const same = existing.find(({ index }) => index && hasSameFields(index, fields))?.index;
  if (same !== undefined) return withComment(named(same.name), filter);
  const { name, code } = definition(model, query, parts);
  const lacksRows = fields.some((field) => !conditions.has(field) && mayLack(model, field));
  const use = lacksRows ? `with ${named(name)}` : "";
  return withComment(code, [use, filter].filter((text) => text !== "").join(", and "));
}

/** A unique index, in code, over some fields. */
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
  // A key has one array at the most, and one part that is computed.
  const excludes = (a: string, b: string) =>
    (isArray(model, query, a) && isArray(model, query, b)) ||
    (isComputed(model, a) && isComputed(model, b));
  const take = (name: string): boolean => {
    if (fields.includes(name)) return true;
    if (fields.some((other) => excludes(name, other))) return false;
    fields.push(name);
    return true;
  };
  const ofKind = (fits: (condition: Condition) => boolean) =>
    [...conditions].filter(([, condition]) => fits(condition)).map(([name]) => name);
  const equal = ofKind(({ isEqual }) => isEqual).sort(
    (a, b) => Number(order.has(b)) - Number(order.has(a)),
  );
  // An order cannot be left to a filter: where its fields exclude others, it has them.
  const isFree = (name: string) => order.has(name) && !equal.includes(name);
  const ordered = [...order.keys()].filter(isFree);
  const isTaken = (name: string) => ordered.some((other) => excludes(name, other));
  const served = new Set(equal.filter((name) => !isTaken(name) && take(name)));
  fields.sort((a, b) => model.primaryKey.indexOf(a) - model.primaryKey.indexOf(b));
  const free = [...order].filter(([name]) => !served.has(name));
  // Conditions are served up to the first field that has none or has bounds.
  let isOpen = true;
  for (const [name] of free) {
    if (!take(name)) continue;
    const condition = conditions.get(name);
    if (isOpen && condition !== undefined) served.add(name);
    isOpen &&= condition?.values !== undefined;
  }
  if (isOpen) {
    for (const name of ofKind(({ values, isEqual }) => values !== undefined && !isEqual)) {
      if (take(name)) served.add(name);
    }
    const bounded = ofKind(({ values }) => values === undefined);
    const range = bounded.find((name) => !model.primaryKey.includes(name)) ?? bounded[0];
    if (range !== undefined && take(range)) served.add(range);
  }
  return {
    parts: withoutPrimaryKey(model, partsOf(model, query, fields, new Map(free))),
    leftOver: [...conditions.keys()].filter((name) => !served.has(name)),
  };
}

/** Fields with the directions that they have in a key whose order, or the reverse of it, is asked for. */
function partsOf(
  model: CompiledModel,
  query: QueryFields,
  fields: readonly string[],
  order: ReadonlyMap<string, Direction>,
): SuggestedPart[] {
  const ordered = fields.filter((field) => order.has(field));
  // An array and what is computed cannot descend: the others then turn around it.
  const fixed = ordered.find((field) => isArray(model, query, field) || isComputed(model, field));
  const main = order.get(fixed ?? ordered[0] ?? "");
  return fields.map((field) => ({
    field,
    descending: order.has(field) && order.get(field) !== main,
  }));
}

/** A key without the fields at its end that an index has behind its own anyway. */
function withoutPrimaryKey(
  { primaryKey }: CompiledModel,
  parts: readonly SuggestedPart[],
): readonly SuggestedPart[] {
  for (let count = Math.min(primaryKey.length, parts.length - 1); count > 0; count--) {
    const end = parts.slice(-count);
    const isIts = end.every((part, i) => part.field === primaryKey[i] && !part.descending);
    if (isIts) return parts.slice(0, -count);
  }
  return parts;
}

function definition(
  model: CompiledModel,
  query: QueryFields,
  parts: readonly SuggestedPart[],
): { readonly name: string; readonly code: string } {
  const fields = parts.map(({ field }) => field);
  const computed = fields.find((field) => isComputed(model, field));
  // What is computed a query names as the index is named.
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

/** A name that no index of the model has. */
function freeName({ indexes }: CompiledModel, name: string): string {
  const isTaken = (text: string) => indexes.some((index) => index.name === text);
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name}${n}`;
  return free;
}

function named(index: string): string {
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

/** Whether a row may have no entry, or several, by a field of which the query says nothing but the order. */
function mayLack(model: CompiledModel, field: string): boolean {
  const schema = model.schema.shape[field];
  return schema !== undefined && (isList(schema) || canBeAbsent(schema));
}

/** Whether a part is the array of its index: an array by its schema or its condition, or what a function returns as one. */
function isArray(model: CompiledModel, { conditions }: QueryFields, field: string): boolean {
  const schema = model.schema.shape[field];
  if (schema !== undefined) return isList(schema) || conditions.get(field)?.has === true;
  return model.indexes.some(({ fields, each }) => each !== undefined && fields[each] === field);
}

/** Whether a part has to be computed: a query names by it what an index computes, or no key holds the field's values. */
function isComputed(model: CompiledModel, field: string): boolean {
  const schema = model.schema.shape[field];
  if (schema === undefined) return true;
  return isList(schema) ? !canHoldElements(schema) : !canBeInKey(schema) && !canBeList(schema);
}
