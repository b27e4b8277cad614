import type { OpenDatabase, OpenModel } from "../source/open-database.js";
import { ownValue, plainValue, typedValue, typeOf } from "./typed-value.js";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the options of a query with values of the types that the fields have. */
export function queryOf(open: OpenDatabase, of: OpenModel, input: Fields): object {
  const { model: _, where, ...options } = input;
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(given.map(([name, value]) => [name, plainValue(value)])),
    ...(where !== undefined && { where: whereOf(open, of, where) }),
  };
}

/** Returns the values of a primary key or a unique index with the types that the fields have. */
export function uniqueOf({ model }: OpenModel, where: Fields): Fields {
  return mapped(where, (field, value) => conditionOf(ownValue(model.schema.shape, field), value));
}

/** Returns the fields of a new row with the types that the fields have. */
export function dataOf({ model }: OpenModel, data: Fields): Fields {
  return mapped(data, (field, value) =>
    typedValue(ownValue(model.schema.shape, field), value, "in"),
  );
}

/**
 * Returns the fields of an update with the types that the fields have. A value or an operation is
 * told apart as `update` does: `{ set: value }` is always an operation, also for a field that may
 * hold an object.
 */
export function updateOf({ model }: OpenModel, data: Fields): Fields {
  return mapped(data, (field, value) => {
    const schema = ownValue(model.schema.shape, field);
    return operationOf(schema, value) ?? typedValue(schema, value, "in");
  });
}

function operationOf(schema: Parameters<typeof typedValue>[0], value: unknown): object | undefined {
  if (!isObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0) return undefined;
  const operand = value[name];
  if (name === "set") return { set: typedValue(schema, operand, "in") };
  // A list is not an object, nor is a bigint, so these two are no values of the field.
  const type = typeOf(schema);
  if (name === "push" && type === "array") return { push: typedValue(schema, operand, "in") };
  if (name === "increment" && type === "bigint")
    return { increment: typedValue(schema, operand, "in") };
  return undefined;
}

/** Conditions may be nested in `OR` and `AND`, and in those on related rows. */
function whereOf(open: OpenDatabase, of: OpenModel, where: unknown): unknown {
  if (Array.isArray(where)) return where.map((each) => whereOf(open, of, each));
  if (!isObject(where)) return plainValue(where);
  return mapped(where, (name, value) => {
    const field = ownValue(of.model.schema.shape, name);
    if (field !== undefined) return conditionOf(field, value);
    const relation = ownValue(of.model.relations, name);
    const target = open.models.find(({ model }) => model.name === relation?.model);
    if (target === undefined) return whereOf(open, of, value);
    return relatedOf(open, target, value);
  });
}

const quantifiers: ReadonlySet<string> = new Set(["some", "every", "none", "is", "isNot"]);

function relatedOf(open: OpenDatabase, target: OpenModel, value: unknown): unknown {
  if (!isObject(value)) return plainValue(value);
  if (!Object.keys(value).every((name) => quantifiers.has(name)))
    return whereOf(open, target, value);
  return mapped(value, (_, each) => whereOf(open, target, each));
}

/** A value, or an object with operators such as `gte` and `in`. */
function conditionOf(schema: Parameters<typeof typedValue>[0], value: unknown): unknown {
  if (!isObject(value) || Object.hasOwn(value, "$")) return typedValue(schema, value, "out");
  return mapped(value, (_, each) =>
    Array.isArray(each)
      ? each.map((one) => typedValue(schema, one, "out"))
      : typedValue(schema, each, "out"),
  );
}

function mapped(fields: Fields, convert: (name: string, value: unknown) => unknown): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, convert(name, value)]),
  );
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
