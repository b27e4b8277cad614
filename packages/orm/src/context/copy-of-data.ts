import type { AnyRow, CompiledModel } from "../model/compiled-model.js";

type Copies = Map<object, unknown>;

const { slice } = Uint8Array.prototype;

/**
 * Returns a copy of input data. The caller may change the original afterwards. Each property is
 * read once. If the data is an instance of a class, fields of the model that come from its
 * prototype are copied too. Values are copied by {@link deepCopy}, and so is a list.
 */
export function copyData(model: CompiledModel, data: object): AnyRow {
  if (Array.isArray(data)) return deepCopy(data) as unknown as AnyRow;
  const copy: Record<string, unknown> = { ...data };
  const prototype: unknown = Object.getPrototypeOf(data);
  if (prototype !== Object.prototype && prototype !== null) {
    for (const field of Object.keys(model.schema._zod.def.shape)) {
      // A property of all objects, such as `constructor`, is not a field.
      if (Object.hasOwn(copy, field) || field in Object.prototype || !(field in data)) continue;
      copy[field] = (data as AnyRow)[field];
    }
  }
  return copyValuesInPlace(copy, undefined);
}

export function copyInput(model: CompiledModel, input: unknown): unknown {
  return typeof input === "object" && input !== null ? copyData(model, input) : input;
}

export function copyFields(object: AnyRow): AnyRow {
  return copyValuesInPlace({ ...object }, undefined);
}

/**
 * Returns a deep copy of a value. Arrays, plain objects, maps, sets, dates and bytes are copied at
 * any depth. Other objects, such as instances of classes, are shared with the original, because
 * there is no general way to copy them.
 */
export function deepCopy<T>(value: T): T {
  return copyValue(value, undefined) as T;
}

function copyValue(value: unknown, copies: Copies | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (copies?.has(value)) return copies.get(value);
  if (Array.isArray(value)) return copyElements(value, copies);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    const copy = { ...value };
    return copyValuesInPlace(copy, recordCopy(copies, value, copy));
  }
  if (prototype === Date.prototype) return new Date((value as Date).getTime());
  if (prototype === Map.prototype) return copyMap(value as Map<unknown, unknown>, copies);
  if (prototype === Set.prototype) return copySet(value as Set<unknown>, copies);
  if (prototype === ArrayBuffer.prototype) return (value as ArrayBuffer).slice(0);
  // `Buffer.prototype.slice` would share the memory. That of `Uint8Array` copies it.
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return slice.call(value as Uint8Array);
  }
  return value;
}

function copyValuesInPlace(copy: Record<string, unknown>, copies: Copies | undefined): AnyRow {
  for (const key in copy) {
    const value = copy[key];
    if (typeof value !== "object" || value === null || !Object.hasOwn(copy, key)) continue;
    copy[key] = copyValue(value, copies);
  }
  return copy;
}

function copyElements(list: readonly unknown[], copies: Copies | undefined): unknown[] {
  const copy = list.slice();
  let seen: Copies | undefined;
  for (let i = 0; i < copy.length; i++) {
    const value = copy[i];
    if (typeof value !== "object" || value === null) continue;
    seen ??= recordCopy(copies, list, copy);
    copy[i] = copyValue(value, seen);
  }
  return copy;
}

function copyMap(map: ReadonlyMap<unknown, unknown>, copies: Copies | undefined): unknown {
  const copy = new Map<unknown, unknown>();
  const seen = recordCopy(copies, map, copy);
  for (const [key, value] of map) copy.set(copyValue(key, seen), copyValue(value, seen));
  return copy;
}

function copySet(set: ReadonlySet<unknown>, copies: Copies | undefined): unknown {
  const copy = new Set<unknown>();
  const seen = recordCopy(copies, set, copy);
  for (const value of set) copy.add(copyValue(value, seen));
  return copy;
}

/** Records a copy. Call it before the contents are copied, because an object may contain itself. */
function recordCopy(copies: Copies | undefined, value: object, copy: object): Copies {
  return (copies ?? new Map<object, unknown>()).set(value, copy);
}
