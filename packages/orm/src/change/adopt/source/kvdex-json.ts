/**
 * JSON as kvdex writes it (`src/common/json.ts` of kvdex 4, `src/ext/encoding/json/utils.ts` of
 * kvdex 3). A value that JSON cannot represent becomes an object with one property, whose name is a
 * tag for the type, such as `{"__date__":"1970-01-01T00:00:00.000Z"}`.
 */

const arrays = [
  Int8Array,
  Int16Array,
  Int32Array,
  Uint8Array,
  Uint16Array,
  Uint32Array,
  Uint8ClampedArray,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
] as const;

/** Makes a value from the content of its tag. Values inside the content have already been made. */
type Revive = (content: unknown) => unknown;

const revivals: ReadonlyMap<string, Revive> = new Map<string, Revive>([
  ["__undefined__", () => undefined],
  ["__nan__", () => Number.NaN],
  ["__infinity__", () => Number.POSITIVE_INFINITY],
  ["__bigint__", (digits) => BigInt(digits as string)],
  ["__date__", (text) => new Date(text as string)],
  ["__regexp__", (source) => new RegExp(source as string)],
  ["__set__", (list) => new Set(list as unknown[])],
  ["__map__", (list) => new Map(list as [unknown, unknown][])],
  ["__arraybuffer__", (list) => Uint8Array.from(list as number[]).buffer],
  ["__dataview__", dataViewOf],
  ["__error__", errorOf],
  ...arrays.map((type): [string, Revive] => [
    tagOf(type.name),
    (list) => typedArrayFrom(type, list),
  ]),
]);

export function jsonOf(value: unknown): string {
  return JSON.stringify(tagged(value));
}

/**
 * Parses JSON and replaces tagged objects with their values.
 *
 * @throws {SyntaxError} if the text is not JSON.
 * @throws any error of a constructor that does not accept the content of its tag.
 */
export function valueOfJson(text: string): unknown {
  return reviveTagged(JSON.parse(text), [...revivals.keys()]);
}

/** Replaces tagged objects with their values, for some of the tags. */
export function reviveTagged(value: unknown, tags: readonly string[]): unknown {
  const inner = (part: unknown): unknown => reviveTagged(part, tags);
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Set) return new Set([...value].map(inner));
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [key, inner(part)]));
  if (!isPlain(value)) return value;
  const tag = tags.find((name) => Object.hasOwn(value, name));
  if (tag !== undefined) return revivals.get(tag)?.(inner(value[tag]));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inner(part)]));
}

function tagged(value: unknown): unknown {
  if (value === undefined) return { __undefined__: false };
  if (Number.isNaN(value)) return { __nan__: false };
  if (value === Number.POSITIVE_INFINITY) return { __infinity__: false };
  if (typeof value === "bigint") return { __bigint__: value.toString() };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(tagged);
  if (value instanceof Date) return { __date__: value.toISOString() };
  if (value instanceof Set) return { __set__: [...value].map(tagged) };
  if (value instanceof Map) {
    return { __map__: [...value].map(([key, part]) => [tagged(key), tagged(part)]) };
  }
  if (value instanceof RegExp) return { __regexp__: value.source };
  if (value instanceof ArrayBuffer) return { __arraybuffer__: [...new Uint8Array(value)] };
  const array = arrays.find((type) => value instanceof type);
  if (array !== undefined) {
    return { [tagOf(array.name)]: Array.from<unknown>(value as Uint8Array).map(tagged) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, tagged(part)]));
}

function tagOf(typeName: string): string {
  return `__${typeName.toLowerCase()}__`;
}

function typedArrayFrom(type: (typeof arrays)[number], list: unknown): unknown {
  return new (type as new (list: unknown) => unknown)(list);
}

/** Kvdex 3 stores all bytes of the buffer, later releases also the offset and length. */
function dataViewOf(content: unknown): DataView {
  if (Array.isArray(content)) return new DataView(Uint8Array.from(content).buffer);
  const { data, byteOffset, byteLength } = content as Record<
    "byteOffset" | "byteLength",
    number
  > & {
    data: number[];
  };
  return new DataView(Uint8Array.from(data).buffer, byteOffset, byteLength);
}

function errorOf(content: unknown): Error {
  const { message, name, stack, cause } = content as Partial<Record<string, string>>;
  const error = new Error(message, cause === undefined ? {} : { cause });
  if (name !== undefined) error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
