import type { AnyRow, CompiledModel } from "./compiled-model.js";

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
  return new Copier(shareObject).copyValues(copy, data);
}

export function copyInput(model: CompiledModel, input: unknown): unknown {
  return typeof input === "object" && input !== null ? copyData(model, input) : input;
}

export function copyFields(object: AnyRow): AnyRow {
  return new Copier(shareObject).copyValues({ ...object }, object);
}

/**
 * Returns a deep copy of a value. Arrays, plain objects, maps, sets, dates and bytes are copied at
 * any depth. Other objects, such as instances of classes, are shared with the original, because
 * there is no general way to copy them.
 */
export function deepCopy<T>(value: T): T {
  return new Copier(shareObject).copy(value) as T;
}

/** Returns a deep copy of a value that can be stored. It shares no object with the original. */
export function copyStored<T>(value: T): T {
  return new Copier((object) => structuredClone(object)).copy(value) as T;
}

function shareObject(object: object): object {
  return object;
}

class Copier {
  /** Object → copy, for objects that occur several times or contain themselves. */
  #copies: Map<object, unknown> | undefined;
  readonly #copyOther: (object: object) => object;

  /** @param copyOther copies an object that is not of a kind that {@link deepCopy} names. */
  constructor(copyOther: (object: object) => object) {
    this.#copyOther = copyOther;
  }

  copy(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (this.#copies?.has(value)) return this.#copies.get(value);
    if (Array.isArray(value)) return this.#copyElements(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) {
      const copy = { ...value };
      if (this.#copies !== undefined) this.#record(value, copy);
      return this.copyValues(copy, value);
    }
    if (prototype === Date.prototype) return new Date((value as Date).getTime());
    if (prototype === Map.prototype) return this.#copyMap(value as Map<unknown, unknown>);
    if (prototype === Set.prototype) return this.#copySet(value as Set<unknown>);
    if (prototype === ArrayBuffer.prototype) return (value as ArrayBuffer).slice(0);
    // `Buffer.prototype.slice` would share the memory. That of `Uint8Array` copies it.
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      return slice.call(value as Uint8Array);
    }
    return this.#copyOther(value);
  }

  /** Replaces the values of a shallow copy by copies. */
  copyValues(copy: Record<string, unknown>, original: object): AnyRow {
    let isRecorded = false;
    for (const key in copy) {
      const value = copy[key];
      if (typeof value !== "object" || value === null || !Object.hasOwn(copy, key)) continue;
      if (!isRecorded) this.#record(original, copy);
      isRecorded = true;
      // The key `__proto__` is an own property of the copy here, so this sets no prototype.
      copy[key] = this.copy(value);
    }
    return copy;
  }

  #copyElements(list: readonly unknown[]): unknown[] {
    const copy = list.slice();
    let isRecorded = false;
    for (let i = 0; i < copy.length; i++) {
      const value = copy[i];
      if (typeof value !== "object" || value === null) continue;
      if (!isRecorded) this.#record(list, copy);
      isRecorded = true;
      copy[i] = this.copy(value);
    }
    return copy;
  }

  #copyMap(map: ReadonlyMap<unknown, unknown>): unknown {
    const copy = new Map<unknown, unknown>();
    this.#record(map, copy);
    for (const [key, value] of map) copy.set(this.copy(key), this.copy(value));
    return copy;
  }

  #copySet(set: ReadonlySet<unknown>): unknown {
    const copy = new Set<unknown>();
    this.#record(set, copy);
    for (const value of set) copy.add(this.copy(value));
    return copy;
  }

  /** Call it before the contents are copied, because an object may contain itself. */
  #record(value: object, copy: object): void {
    this.#copies ??= new Map();
    this.#copies.set(value, copy);
  }
}
