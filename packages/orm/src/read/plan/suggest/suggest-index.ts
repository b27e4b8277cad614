import { listText } from "../../../errors/message-parts.js";
import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { canBeAbsent } from "../../../model/fields/field-schema.js";
import { canBeInKey, canBeList, canHoldElements, isList } from "../../../model/fields/key-kinds.js";
import type { Direction } from "../../../state/context/any-query.js";
import type { FieldCondition } from "../fields/field-condition.js";
import type { QueryFields } from "../fields/query-fields.js";

export interface ExistingKey {
  /** Undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
  readonly isComplete: boolean;
}

interface SuggestedPart {
  readonly field: string;
  readonly descending: boolean;
}

/** A key that would serve a query, except for some of its conditions. */
interface SuggestedKey {
  readonly parts: readonly SuggestedPart[];
  readonly leftOver: readonly string[];
}

/** Returns the keys of a model that serve a query, including those that lack rows. */
export type FindKeys = (query: QueryFields) => readonly ExistingKey[];

/** The code of a suggested index, or of an option, and the same as advice in a sentence. */
export interface Suggestion {
  readonly code: string;
  readonly advice: string;
}

/**
 * Suggests an index for a query that no index serves. If the model already has such an index, the
 * suggestion says how to use it.
 */
export function suggestIndex(model: CompiledModel, query: QueryFields, find: FindKeys): Suggestion {
  // No key holds the rows that lack a field. The `where` of an index selects them.
  const absent = [...query.conditions].filter(([, { isNull }]) => isNull).map(([name]) => name);
  const present = [...query.conditions].filter(([, { isNull }]) => !isNull);
  const { parts: named, leftOver } = suggestedKey(model, {
    ...query,
    conditions: new Map(present),
  });
  const parts = named.length > 0 ? named : primaryKeyParts(model);
  const conditions = new Map([...query.conditions].filter(([name]) => !leftOver.includes(name)));
  const filter = leftOver.length === 0 ? "" : `filter by ${leftOver.join(", ")}`;
  const move = `move ${listText(leftOver)} into filter`;
  const andMove = filter === "" ? "" : ` and ${move}`;
  const existing = find({ conditions, order: query.order });
  const complete = existing.find(({ isComplete }) => isComplete);
  if (complete !== undefined) {
    const { index } = complete;
    const name = index?.name ?? "the primary key";
    if (filter !== "") {
      return {
        code: `// ${filter}: ${name} serves the rest`,
        advice: `${move}: ${name} serves the rest`,
      };
    }
    if (index !== undefined) return { code: indexOption(name), advice: `use ${indexOption(name)}` };
    return {
      code: "// name no index: the primary key serves it",
      advice: "leave out index, because the primary key serves the query",
    };
  }
  const fields = parts.map(({ field }) => field);
  const open = fields.filter((field) => !conditions.has(field));
  const missed = missedRows(model, query, open);
  // An index with a `where` would leave out rows although another index would have them.
  const same = existing.find(
    ({ index }) => index && index.where === undefined && hasSameFields(index, fields),
  )?.index;
  if (same !== undefined) {
    return {
      code: `${indexOption(same.name)} // ${missed}${filter === "" ? "" : `, and ${filter}`}`,
      advice: `use ${indexOption(same.name)}, which ${missed}${andMove}`,
    };
  }
  const { name, code } = suggestedIndex(model, query, parts, absent);
  const option = missed === undefined ? "" : `${indexOption(name)}, which ${missed}`;
  const hints = [option === "" ? "" : `with ${option}`, filter].filter((hint) => hint !== "");
  const comment = hints.join(", and ");
  return {
    code: comment === "" ? code : `${code} // ${option === "" ? "and " : ""}${comment}`,
    advice: `add ${code}${option === "" ? "" : ` and use ${option}`}${andMove}${widerAdvice(model, query, existing)}`,
  };
}

/** Explains why an index does not serve the query although its key begins with the fields. */
function widerAdvice(
  model: CompiledModel,
  query: QueryFields,
  existing: readonly ExistingKey[],
): string {
  for (const { index } of existing) {
    if (index === undefined || index.where !== undefined) continue;
    const open = index.fields.filter((field) => !query.conditions.has(field));
    const missed = missedRows(model, query, open);
    if (missed !== undefined) return `, because ${index.name} ${missed},`;
  }
  return "";
}

function missedRows(
  model: CompiledModel,
  query: QueryFields,
  open: readonly string[],
): string | undefined {
  const lacking = open.filter((field) => mayLack(model, query, field));
  return lacking.length === 0 ? undefined : `leaves out rows that lack ${listText(lacking, "or")}`;
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

/** Removes the primary key from the end of a key, because each index has it there anyway. */
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

function primaryKeyParts({ primaryKey }: CompiledModel): SuggestedPart[] {
  return primaryKey.map((field) => ({ field, descending: false }));
}

function suggestedIndex(
  model: CompiledModel,
  query: QueryFields,
  parts: readonly SuggestedPart[],
  absent: readonly string[],
): { readonly name: string; readonly code: string } {
  const fields = parts.map(({ field }) => field);
  const computed = fields.find((field) => isComputed(model, field));
  // Queries name a computed part by the name of its index.
  const isNamed = computed !== undefined && !Object.hasOwn(model.schema.shape, computed);
  const plainName =
    absent.length === 0 ? nameOf(fields) : `${nameOf(fields)}Without${listOf(absent)}`;
  const name = isNamed ? computed : freeName(model, plainName);
  const key = parts.map(({ field, descending }) => {
    if (field === computed) return "(row) => …";
    return descending ? `desc(${JSON.stringify(field)})` : JSON.stringify(field);
  });
  const isEach = fields.some((field) => isArray(model, query, field));
  const conditions = absent.map((field) => `${field}: null`).join(", ");
  const options = [
    ...(isEach ? ["each: true"] : []),
    ...(absent.length > 0 ? [`where: { ${conditions} }`] : []),
  ];
  return { name, code: codeOf(name, key, options) };
}

export function codeOf(name: string, key: readonly string[], options: readonly string[]): string {
  const keyText = key.length === 1 ? key[0] : `[${key.join(", ")}]`;
  const property = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name)
    ? name
    : JSON.stringify(name);
  return `${property}: { ${[`key: ${keyText}`, ...options].join(", ")} }`;
}

export function nameOf(fields: readonly string[]): string {
  return `by${listOf(fields)}`;
}

function listOf(fields: readonly string[]): string {
  return fields.map((field) => field.charAt(0).toUpperCase() + field.slice(1)).join("And");
}

export function freeName({ indexes }: CompiledModel, name: string): string {
  const isTaken = (text: string) => indexes.some((index) => index.name === text);
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name}${n}`;
  return free;
}

function indexOption(index: string): string {
  return `index: ${JSON.stringify(index)}`;
}

function hasSameFields(index: CompiledIndex, fields: readonly string[]): boolean {
  return (
    index.fields.length === fields.length && fields.every((field) => index.fields.includes(field))
  );
}

/** True if a row may have no entry, or several entries, because of a field without a condition. */
function mayLack(model: CompiledModel, query: QueryFields, field: string): boolean {
  const schema = model.schema.shape[field];
  return isArray(model, query, field) || (schema !== undefined && canBeAbsent(schema));
}

/** True for a field that is an array by its schema or condition, and for a computed array. */
function isArray(model: CompiledModel, { conditions }: QueryFields, field: string): boolean {
  const schema = model.schema.shape[field];
  if (schema !== undefined) return isList(schema) || conditions.get(field)?.has === true;
  return model.indexes.some(({ fields, each }) => each !== undefined && fields[each] === field);
}

/** True for a computed part of an index, and for a field whose values a key cannot hold. */
function isComputed(model: CompiledModel, field: string): boolean {
  const schema = model.schema.shape[field];
  if (schema === undefined) return true;
  return isList(schema) ? !canHoldElements(schema) : !canBeInKey(schema) && !canBeList(schema);
}
