import type { AnyRow, CompiledModel } from "../model/compiled-model.js";

type Copies = Map<object, unknown>;

const { slice } = Uint8Array.prototype;

/**
 * What was handed over, as it is now, whatever becomes of the object: each property is read once. Fields that an object of
 * a class has from its prototype are among them. Values are copied as {@link copyOfGiven} does; a list is one, too.
 */
export function copyOfData(model: CompiledModel, data: object): AnyRow {
  if (Array.isArray(data)) return copyOfGiven(data) as unknown as AnyRow;
  const copy: Record<string, unknown> = { ...data };
  const prototype: unknown = Object.getPrototypeOf(data);
  if (prototype !== Object.prototype && prototype !== null) {
    for (const field of Object.keys(model.schema._zod.def.shape)) {
      // What every object has, such as `constructor`, is no field of it.
      if (Object.hasOwn(copy, field) || field in Object.prototype || !(field in data)) continue;
      copy[field] = (data as AnyRow)[field];
    }
  }
  return withOwnValues(copy, undefined);
}

/** The same of what a call of a method may be given in the place of data, of which only objects are any. */
export function copyOfInput(model: CompiledModel, input: unknown): unknown {
  return typeof input === "object" && input !== null ? copyOfData(model, input) : input;
}

/** A plain object with its own fields, whose values are copied as {@link copyOfGiven} does. */
export function copyOfFields(object: AnyRow): AnyRow {
  return withOwnValues({ ...object }, undefined);
}

/**
 * A value that shares no array, plain object, map, set, date or bytes with the one that was handed over, however deep they
 * are in it. What else is an object in there, such as one of a class, is the same: nobody knows how to copy it.
 */
export function copyOfGiven<T>(value: T): T {
  return copied(value, undefined) as T;
}

function copied(value: unknown, copies: Copies | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (copies?.has(value)) return copies.get(value);
  if (Array.isArray(value)) return withOwnElements(value, copies);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    const copy = { ...value };
    return withOwnValues(copy, noted(copies, value, copy));
  }
  if (prototype === Date.prototype) return new Date((value as Date).getTime());
  if (prototype === Map.prototype) return copyOfMap(value as Map<unknown, unknown>, copies);
  if (prototype === Set.prototype) return copyOfSet(value as Set<unknown>, copies);
  if (prototype === ArrayBuffer.prototype) return (value as ArrayBuffer).slice(0);
  // That of the bytes, and not of a Buffer, whose own shares them.
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return slice.call(value as Uint8Array);
  }
  return value;
}

/** Puts copies in the place of an object's values. */
function withOwnValues(copy: Record<string, unknown>, copies: Copies | undefined): AnyRow {
  for (const key in copy) {
    const value = copy[key];
    if (typeof value !== "object" || value === null || !Object.hasOwn(copy, key)) continue;
    copy[key] = copied(value, copies);
  }
  return copy;
}

function withOwnElements(list: readonly unknown[], copies: Copies | undefined): unknown[] {
  const copy = list.slice();
  let noting: Copies | undefined;
  for (let i = 0; i < copy.length; i++) {
    const value = copy[i];
    if (typeof value !== "object" || value === null) continue;
    noting ??= noted(copies, list, copy);
    copy[i] = copied(value, noting);
  }
  return copy;
}

function copyOfMap(map: ReadonlyMap<unknown, unknown>, copies: Copies | undefined): unknown {
  const copy = new Map<unknown, unknown>();
  const noting = noted(copies, map, copy);
  for (const [key, value] of map) copy.set(copied(key, noting), copied(value, noting));
  return copy;
}

function copyOfSet(set: ReadonlySet<unknown>, copies: Copies | undefined): unknown {
  const copy = new Set<unknown>();
  const noting = noted(copies, set, copy);
  for (const value of set) copy.add(copied(value, noting));
  return copy;
}

/** Notes a copy before what is in it is copied: an object may contain itself. */
function noted(copies: Copies | undefined, value: object, copy: object): Copies {
  return (copies ?? new Map<object, unknown>()).set(value, copy);
}
