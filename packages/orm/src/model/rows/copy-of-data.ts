import type { AnyRow, CompiledModel } from "../compiled-model.js";

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
  return withCopiedValues(copy, data);
}

export function copyInput(model: CompiledModel, input: unknown): unknown {
  return typeof input === "object" && input !== null ? copyData(model, input) : input;
}

export function copyFields(object: AnyRow): AnyRow {
  return withCopiedValues({ ...object }, object);
}

/** Replaces the values of a shallow copy by copies. Most data has no objects. */
function withCopiedValues(copy: Record<string, unknown>, original: object): AnyRow {
  for (const key in copy) {
    const value = copy[key];
    if (typeof value !== "object" || value === null) continue;
    return new Copier(shareObject).copyValues(copy, original);
  }
  return copy;
}

/**
 * Returns a deep copy of a value. Arrays, plain objects, maps, sets, dates and bytes are copied at
 * any depth. Other objects, such as instances of classes, are shared with the original, because
 * there is no general way to copy them.
 */
export function deepCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Object.getPrototypeOf(value) === Object.prototype)
    return withCopiedValues({ ...(value as AnyRow) }, value) as T;
  return new Copier(shareObject).copy(value) as T;
}

/** Returns a deep copy of a value that can be stored. It shares no object with the original. */
export function copyStored<T>(value: T): T {
  return new Copier((object) => structuredClone(object)).copy(value) as T;
}

function shareObject(object: object): object {
  return object;
}

/** Copies without recursion, so that no depth exceeds the stack. */
class Copier {
  /** Object → copy, for objects that occur several times or contain themselves. */
  #copies: Map<object, unknown> | undefined;
  /** Originals and their copies, alternately, whose contents have yet to be copied. */
  #unfilled: object[] = [];
  readonly #copyOther: (object: object) => object;

  /** @param copyOther copies an object that is not of a kind that {@link deepCopy} names. */
  constructor(copyOther: (object: object) => object) {
    this.#copyOther = copyOther;
  }

  copy(value: unknown): unknown {
    const copy = this.#begin(value);
    this.#fillAll();
    return copy;
  }

  /** Replaces the values of a shallow copy by copies. */
  copyValues(copy: Record<string, unknown>, original: object): AnyRow {
    this.#fillObject(original, copy);
    this.#fillAll();
    return copy;
  }

  /** Returns a copy of a value. Until it is filled, it may contain parts of the original. */
  #begin(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#copies?.get(value);
    if (known !== undefined) return known;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (Array.isArray(value)) return this.#unfilledCopy(value, value.slice());
    if (prototype === Object.prototype || prototype === null)
      return this.#unfilledCopy(value, { ...value });
    if (prototype === Date.prototype) return new Date((value as Date).getTime());
    if (prototype === Map.prototype) return this.#unfilledCopy(value, new Map());
    if (prototype === Set.prototype) return this.#unfilledCopy(value, new Set());
    if (prototype === ArrayBuffer.prototype) return (value as ArrayBuffer).slice(0);
    // `Buffer.prototype.slice` would share the memory. That of `Uint8Array` copies it.
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      return slice.call(value as Uint8Array);
    }
    return this.#copyOther(value);
  }

  #unfilledCopy(original: object, copy: object): object {
    this.#unfilled.push(original, copy);
    this.#copies?.set(original, copy);
    return copy;
  }

  #fillAll(): void {
    for (let i = 0; i < this.#unfilled.length; i += 2) {
      const [original, copy] = [this.#unfilled[i]!, this.#unfilled[i + 1]!];
      if (Array.isArray(copy)) this.#fillArray(original, copy);
      else if (copy instanceof Map) this.#fillMap(original, copy);
      else if (copy instanceof Set) this.#fillSet(original, copy);
      else this.#fillObject(original, copy as Record<string, unknown>);
    }
    this.#unfilled = [];
  }

  #fillObject(original: object, copy: Record<string, unknown>): void {
    for (const key in copy) {
      const value = copy[key];
      if (typeof value !== "object" || value === null || !Object.hasOwn(copy, key)) continue;
      this.#record(original, copy);
      // The key `__proto__` is an own property of the copy here, so this sets no prototype.
      copy[key] = this.#begin(value);
    }
  }

  #fillArray(original: object, copy: unknown[]): void {
    for (let i = 0; i < copy.length; i++) {
      const value = copy[i];
      if (typeof value !== "object" || value === null) continue;
      this.#record(original, copy);
      copy[i] = this.#begin(value);
    }
  }

  #fillMap(original: object, copy: Map<unknown, unknown>): void {
    this.#record(original, copy);
    for (const [key, value] of original as ReadonlyMap<unknown, unknown>)
      copy.set(this.#begin(key), this.#begin(value));
  }

  #fillSet(original: object, copy: Set<unknown>): void {
    this.#record(original, copy);
    for (const value of original as ReadonlySet<unknown>) copy.add(this.#begin(value));
  }

  /** Records an object that contains others, before these are copied: it may contain itself. */
  #record(original: object, copy: object): void {
    this.#copies ??= new Map([[original, copy]]);
  }
}
