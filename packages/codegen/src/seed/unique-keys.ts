import { encodeKey, type KvKey } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "@keywright/orm/codegen";
import type { AnyRow } from "./seed-model.js";

/** The unique keys of the rows of a model that were generated. */
export class UniqueKeys {
  readonly #indexes: readonly UniqueIndex[];

  constructor(model: CompiledModel) {
    const primaryKey: UniqueIndex = {
      name: "primaryKey",
      keyOf: (row) => model.primaryKey.map((field) => row[field]),
      taken: new Set(),
    };
    // The elements of an array are left to the database.
    const unique = model.indexes.filter((index) => index.unique && index.each === undefined);
    this.#indexes = [primaryKey, ...unique.map(uniqueIndex)];
  }

  /**
   * Takes the keys of a row, unless another row has one of them. Returns the name of its index, or
   * undefined if the keys were free.
   */
  take(row: AnyRow): string | undefined {
    const keys: (readonly [Set<string>, string])[] = [];
    for (const { name, keyOf, taken } of this.#indexes) {
      const key = keyText(keyOf(row));
      if (key === undefined) continue;
      if (taken.has(key)) return name;
      keys.push([taken, key]);
    }
    for (const [taken, key] of keys) taken.add(key);
    return undefined;
  }
}

interface UniqueIndex {
  readonly name: string;
  /** Returns undefined if the index does not have the row. */
  readonly keyOf: (row: AnyRow) => readonly unknown[] | undefined;
  readonly taken: Set<string>;
}

function uniqueIndex({ name, parts, where }: CompiledIndex): UniqueIndex {
  const keyOf = (row: AnyRow) => {
    if (where !== undefined && !where(row)) return undefined;
    return parts.map(({ field, compute, normalize }) => {
      const value = compute === undefined ? row[field] : compute(row);
      return normalize === undefined || isAbsent(value) ? value : normalize(value);
    });
  };
  return { name, keyOf, taken: new Set() };
}

/** Returns undefined if a part is absent or cannot be in a key: then no index entry is unique. */
function keyText(parts: readonly unknown[] | undefined): string | undefined {
  if (parts === undefined || parts.some(isAbsent)) return undefined;
  try {
    const key = parts.map((part) => (part instanceof Date ? part.getTime() : part));
    return Buffer.from(encodeKey(key as KvKey)).toString("latin1");
  } catch {
    return undefined;
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
