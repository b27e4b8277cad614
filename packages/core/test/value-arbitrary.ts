import { runInNewContext } from "node:vm";
import fc from "fast-check";

/** Property names that a codec is likely to trip over, beside any others. */
const propertyName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toJSON", "length", "0", "-1", "then", "", "\ufeffx"),
  fc.constantFrom("\ud800", "a\udc00", "é", "hasOwnProperty"),
  fc.string({ unit: "binary", maxLength: 4 }),
);

const oddLeaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(-0, Number.NaN, Infinity, 2 ** 53, -(2 ** 31) - 1, 2 ** 32, 0.1),
  fc.constantFrom(2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n, 2n ** 64n, -5n),
  fc.constantFrom("\ud83d", "\udca9\ud83d", `\ufeff${"a".repeat(100)}`, "é".repeat(70), "\0"),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.constant(undefined),
  fc.constantFrom(/a/g, /[\u{10000}\n/]+/imsuy, /(?:)/),
  fc.constantFrom(new Date(Number.NaN), new Date(-1), new Date(8.64e15), new Date(-8.64e15)),
  fc.uint8Array({ maxLength: 300 }),
);

/** Whatever fast-check can think of. */
export const anything: fc.Arbitrary<unknown> = fc.anything({
  key: propertyName,
  values: [
    oddLeaf,
    fc.string(),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.bigInt(),
    fc.constant(null),
  ],
  maxDepth: 4,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});

/** Rows as most programs store them. */
export const row: fc.Arbitrary<unknown> = fc.record(
  {
    id: fc.string(),
    age: fc.integer(),
    score: fc.double(),
    tags: fc.array(fc.string()),
    born: fc.date(),
    avatar: fc.uint8Array(),
    balance: fc.bigInt(),
    address: fc.record({ city: fc.string(), zip: fc.option(fc.string()) }),
  },
  { requiredKeys: ["id"] },
);

/** The classes of this realm, or those of another. */
interface Realm {
  readonly Object: ObjectConstructor;
  readonly Array: ArrayConstructor;
  readonly Map: MapConstructor;
  readonly Set: SetConstructor;
  readonly TypeError: TypeErrorConstructor;
  readonly Date: DateConstructor;
  readonly Uint8Array: Uint8ArrayConstructor;
}

const here: Realm = { Object, Array, Map, Set, TypeError, Date, Uint8Array };
const elsewhere = runInNewContext(
  "({ Object, Array, Map, Set, TypeError, Date, Uint8Array })",
) as Realm;

type Part = { readonly leaf: unknown } | { readonly link: number };

interface NodePlan {
  readonly kind: "object" | "array" | "map" | "set" | "error" | "getters" | "date" | "bytes";
  readonly isForeign: boolean;
  readonly parts: readonly (readonly [name: string, key: Part, value: Part])[];
}

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.oneof(oddLeaf, fc.integer()).map((leaf) => ({ leaf })),
  fc.nat(9).map((link) => ({ link })),
);

const nodePlan: fc.Arbitrary<NodePlan> = fc.record({
  kind: fc.constantFrom("object", "array", "map", "set", "error", "getters", "date", "bytes"),
  isForeign: fc.boolean(),
  parts: fc.array(fc.tuple(propertyName, part, part), { maxLength: 4 }),
});

/**
 * Objects that refer to each other, also in circles, some of another realm, with arrays that have
 * other properties, getters, and errors with causes.
 */
export const linked: fc.Arbitrary<unknown> = fc
  .array(nodePlan, { minLength: 1, maxLength: 6 })
  .map((plans) => {
    const objects = plans.map(emptyObject);
    const resolve = (part: Part) =>
      "leaf" in part ? part.leaf : objects[part.link % objects.length];
    for (const [index, plan] of plans.entries()) fill(objects[index]!, plan, resolve);
    return objects[0];
  });

function emptyObject({ kind, isForeign }: NodePlan): object {
  const realm = isForeign ? elsewhere : here;
  switch (kind) {
    case "array":
      return new realm.Array();
    case "map":
      return new realm.Map();
    case "set":
      return new realm.Set();
    case "error":
      return new realm.TypeError("wrong");
    case "date":
      return new realm.Date(1e12);
    case "bytes":
      return realm.Uint8Array.of(1, 2, 3);
    default:
      return new realm.Object();
  }
}

function fill(object: object, { kind, parts }: NodePlan, resolve: (part: Part) => unknown): void {
  for (const [name, key, value] of parts) {
    if (kind === "map") (object as Map<unknown, unknown>).set(resolve(key), resolve(value));
    else if (kind === "set") (object as Set<unknown>).add(resolve(value));
    // Only a leaf: V8 cannot read its own clone of an error that is within its cause.
    else if (kind === "error" && "leaf" in value) define(object, "cause", { value: value.leaf });
    else if (kind === "getters")
      define(object, name, { get: () => resolve(value), enumerable: true });
    else if (kind === "array" && "link" in key) (object as unknown[]).push(resolve(value));
    else if (kind === "array" || kind === "object") {
      // The length of an array is not a property to be set to anything.
      if (kind === "array" && name === "length") continue;
      define(object, name, { value: resolve(value), enumerable: true, writable: true });
    }
  }
}

function define(object: object, name: string, property: PropertyDescriptor): void {
  Object.defineProperty(object, name, { configurable: true, ...property });
}

type ViewClass = new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView;

const viewClasses: readonly ViewClass[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
];

/** Views of every class on one buffer, which may be there itself, in any order. */
export const views: fc.Arbitrary<unknown> = fc
  .record({
    bytes: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    plans: fc.array(
      fc.record({ of: fc.constantFrom(...viewClasses), at: fc.nat(3), size: fc.nat(1) }),
      {
        maxLength: 4,
      },
    ),
    withBuffer: fc.constantFrom("first", "last", "never"),
    again: fc.boolean(),
  })
  .map(({ bytes, plans, withBuffer, again }) => {
    const { buffer } = bytes.slice();
    const list: unknown[] = plans.map(({ of: View, at, size }) => new View(buffer, at * 8, size));
    if (again && list.length > 0) list.push(list[0]);
    if (withBuffer === "first") list.unshift(buffer);
    if (withBuffer === "last") list.push(buffer);
    return list;
  });
