import * as z from "zod";

type Kind =
  | "string"
  | "int"
  | "number"
  | "bigint"
  | "boolean"
  | "date"
  | "bytes"
  | "null"
  | "undefined";

const scalars: Readonly<Record<Exclude<Kind, "null" | "undefined">, () => z.ZodType>> = {
  string: () => z.string(),
  int: () => z.int(),
  number: () => z.number(),
  bigint: () => z.bigint(),
  boolean: () => z.boolean(),
  date: () => z.date(),
  bytes: () => z.instanceof(Uint8Array),
};

/** Objects in objects are described down to this depth. */
const maxDepth = 5;
/** An object with more fields is a record. */
const maxFields = 60;

/** The types of the values that were seen in one place. */
class ValueShape {
  readonly #depth: number;
  readonly #kinds = new Set<Kind>();
  #isUnknown = false;
  #elements: ValueShape | undefined;
  #object: ObjectShape | undefined;
  #members: ValueShape | undefined;
  #map: { readonly keys: ValueShape; readonly values: ValueShape } | undefined;

  constructor(depth = 0) {
    this.#depth = depth;
  }

  add(value: unknown): void {
    const kind = kindOf(value);
    if (kind !== undefined) this.#kinds.add(kind);
    else if (this.#depth >= maxDepth) this.#isUnknown = true;
    else if (Array.isArray(value)) {
      this.#elements ??= new ValueShape(this.#depth + 1);
      for (const element of value) this.#elements.add(element);
    } else if (isPlainObject(value)) {
      this.#object ??= new ObjectShape(this.#depth + 1);
      this.#object.add(value);
    } else if (value instanceof Set) {
      this.#members ??= new ValueShape(this.#depth + 1);
      for (const member of value) this.#members.add(member);
    } else if (value instanceof Map) {
      this.#map ??= {
        keys: new ValueShape(this.#depth + 1),
        values: new ValueShape(this.#depth + 1),
      };
      for (const [key, mapped] of value) {
        this.#map.keys.add(key);
        this.#map.values.add(mapped);
      }
    } else this.#isUnknown = true;
  }

  /** Returns a schema that accepts all values that were seen. */
  schema(): z.ZodType {
    const kinds = [...this.#kinds].filter((kind) => kind !== "null" && kind !== "undefined");
    const scalarKinds = this.#kinds.has("number") ? kinds.filter((kind) => kind !== "int") : kinds;
    const alternatives = [
      ...scalarKinds.map((kind) => scalars[kind]()),
      ...(this.#elements ? [z.array(this.#elements.schema())] : []),
      ...(this.#object ? [this.#object.schema()] : []),
      ...(this.#members ? [z.set(this.#members.schema())] : []),
      ...(this.#map ? [z.map(this.#map.keys.schema(), this.#map.values.schema())] : []),
    ];
    const [first, ...others] = alternatives;
    if (this.#isUnknown || (first === undefined && this.#kinds.size === 0)) return z.unknown();
    if (first === undefined) return this.#kinds.has("null") ? z.null() : z.undefined();
    const union = others.length === 0 ? first : z.union([first, ...others]);
    const nullable = this.#kinds.has("null") ? union.nullable() : union;
    return this.#kinds.has("undefined") ? nullable.optional() : nullable;
  }
}

/** The fields of the objects that were seen in one place. */
export class ObjectShape {
  readonly #depth: number;
  readonly #fields = new Map<string, { readonly shape: ValueShape; count: number }>();
  #count = 0;

  constructor(depth = 0) {
    this.#depth = depth;
  }

  get fieldNames(): readonly string[] {
    return [...this.#fields.keys()];
  }

  add(object: Readonly<Record<string, unknown>>): void {
    this.#count++;
    for (const [name, value] of Object.entries(object)) {
      let field = this.#fields.get(name);
      if (field === undefined) {
        field = { shape: new ValueShape(this.#depth), count: 0 };
        this.#fields.set(name, field);
      }
      field.count++;
      field.shape.add(value);
    }
  }

  /** Returns how many objects lack a field. */
  countWithout(name: string): number {
    return this.#count - (this.#fields.get(name)?.count ?? 0);
  }

  schema(): z.ZodType {
    if (this.#fields.size > maxFields) return z.record(z.string(), z.unknown());
    return this.objectSchema();
  }

  objectSchema(): z.ZodObject {
    const shape = [...this.#fields].map(([name, field]) => {
      const schema = field.shape.schema();
      const isOptional = field.count < this.#count && schema.def.type !== "optional";
      return [name, isOptional ? schema.optional() : schema] as const;
    });
    return z.object(Object.fromEntries(shape));
  }
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function kindOf(value: unknown): Kind | undefined {
  if (value === null) return "null";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : "date";
  if (value instanceof Uint8Array) return "bytes";
  switch (typeof value) {
    case "string":
    case "bigint":
    case "boolean":
    case "undefined":
      return typeof value as Kind;
    case "number":
      if (Number.isSafeInteger(value)) return "int";
      return Number.isFinite(value) ? "number" : undefined;
    default:
      return undefined;
  }
}
