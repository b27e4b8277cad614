import { definitionOf, type Schema } from "./schema-definition.js";

type Class = abstract new (...args: never[]) => object;

/** The classes whose instances a read returns as instances of the same class. */
const kept: readonly Class[] = [
  Array,
  ArrayBuffer,
  BigInt64Array,
  BigUint64Array,
  DataView,
  Date,
  Error,
  EvalError,
  Float32Array,
  Float64Array,
  Int16Array,
  Int32Array,
  Int8Array,
  Map,
  RangeError,
  ReferenceError,
  RegExp,
  Set,
  SyntaxError,
  TypeError,
  URIError,
  Uint16Array,
  Uint32Array,
  Uint8Array,
  Uint8ClampedArray,
];
const keptByPrototype = new Map<object, Class>(kept.map((each) => [each.prototype, each]));

/**
 * Returns the class of which reads return an instance, for an instance of a subclass of it:
 * `Uint8Array` for a `Buffer`. Undefined if the class stays the same, or nothing is known about it.
 */
export function storedClass(prototype: object | null): Class | undefined {
  if (prototype === null || prototype === Object.prototype || keptByPrototype.has(prototype)) {
    return undefined;
  }
  for (let base = Object.getPrototypeOf(prototype); base !== null; ) {
    const found = keptByPrototype.get(base);
    if (found !== undefined) return found;
    base = Object.getPrototypeOf(base);
  }
  return undefined;
}

/** A class that a schema asks for, and the class of which reads return an instance. */
export interface ChangedClass {
  readonly name: string;
  readonly stored: string;
}

/** Schemas that are nested deeper are not searched: a getter may nest them without end. */
const maxDepth = 20;

/**
 * Returns the first class of `z.instanceof` in the results of a schema whose instances are read as
 * those of another class. Nothing is known about the results of a transform, and a lazy schema may
 * not be defined yet.
 */
export function changedClassIn(
  schema: Schema,
  seen: Set<Schema> = new Set(),
  depth = 0,
): ChangedClass | undefined {
  // A model may contain what is not a schema. Whoever reads its type reports this with its place.
  const isSchema = (schema as Partial<Schema>)._zod?.def !== undefined;
  if (!isSchema || seen.has(schema) || depth > maxDepth) return undefined;
  seen.add(schema);
  const def = definitionOf(schema);
  if (def.type === "custom") {
    const { Class: asked } = schema._zod.bag as { readonly Class?: Class };
    const stored = asked && storedClass(asked.prototype as object);
    return stored && { name: String(asked.name), stored: stored.name };
  }
  const parts = [
    ...Object.values(def.shape ?? {}),
    ...(def.items ?? []),
    ...(def.options ?? []),
    ...[def.catchall, def.element, def.keyType, def.valueType, def.rest, def.left, def.right],
    ...[def.innerType, def.out],
  ];
  for (const part of parts) {
    const found = part ? changedClassIn(part, seen, depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
