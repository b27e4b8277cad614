import { Buffer } from "node:buffer";
import { dateValue } from "./date-value.js";
import type { Place, Schema } from "./place.js";
import { UnfillableError } from "./unfillable-error.js";

type NumberArray = new (values: number[]) => object;
type BigintArray = new (values: bigint[]) => object;

const numberArrays: readonly unknown[] = [
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
];
const bigintArrays: readonly unknown[] = [BigInt64Array, BigUint64Array];

/** Makes instances of other classes that a database can store or that forms use. */
const makers: ReadonlyMap<unknown, (place: Place) => unknown> = new Map<
  unknown,
  (place: Place) => unknown
>([
  [Uint8Array, (place) => Uint8Array.from(numbers(place))],
  [Buffer, (place) => Buffer.from(numbers(place))],
  [ArrayBuffer, (place) => Uint8Array.from(numbers(place)).buffer],
  [DataView, (place) => new DataView(Uint8Array.from(numbers(place)).buffer)],
  [Date, (place) => dateValue({ type: "date" }, place)],
  [URL, ({ fakes }) => new URL(fakes.faker.internet.url())],
  [RegExp, ({ fakes }) => new RegExp(fakes.faker.lorem.word())],
  [Map, ({ fakes }) => new Map([[fakes.faker.lorem.word(), fakes.faker.number.int(100)]])],
  [Set, ({ fakes }) => new Set(fakes.faker.lorem.words(3).split(" "))],
  [Error, ({ fakes }) => new Error(fakes.faker.lorem.sentence())],
  [Object, ({ fakes }) => ({ text: fakes.faker.lorem.word() })],
  [Array, ({ fakes }) => fakes.faker.lorem.words(3).split(" ")],
]);

/** Values for a schema that is only a function. One of them may pass. */
const guesses: readonly ((place: Place) => unknown)[] = [
  ({ fakes }) => fakes.faker.lorem.word(),
  ({ fakes }) => fakes.faker.number.int(100),
  ({ fakes }) => fakes.faker.datatype.boolean(),
  (place) => dateValue({ type: "date" }, place),
  (place) => Uint8Array.from(numbers(place)),
  ({ fakes }) => fakes.faker.number.bigInt({ min: 0n, max: 100n }),
  ({ fakes }) => ({ text: fakes.faker.lorem.word() }),
  ({ fakes }) => fakes.faker.lorem.words(3).split(" "),
  ({ fakes }) => `${fakes.faker.number.int(100)}px`,
  ({ fakes }) => `#${fakes.faker.string.hexadecimal({ length: 6, prefix: "" })}`,
];

/** Returns an instance of the class of `z.instanceof`, or a guess for `z.custom`. */
export function classValue(schema: Schema, place: Place): unknown {
  const { Class } = schema._zod.bag as { readonly Class?: unknown };
  if (Class === undefined) return guesses[place.attempt % guesses.length]!(place);
  const make = makers.get(Class);
  if (make !== undefined) return make(place);
  const values = numbers(place);
  if (numberArrays.includes(Class)) return new (Class as NumberArray)(values);
  if (bigintArrays.includes(Class)) return new (Class as BigintArray)(values.map(BigInt));
  const { name } = Class as { readonly name?: string };
  throw new UnfillableError(
    place.path,
    `the class ${name || "of the schema"} is the project's own`,
  );
}

/** Returns up to 32 small numbers. */
function numbers({ fakes: { faker } }: Place): number[] {
  const length = faker.number.int({ min: 4, max: 32 });
  return Array.from({ length }, () => faker.number.int({ min: 0, max: 127 }));
}
