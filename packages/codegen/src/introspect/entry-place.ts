import { isDeepStrictEqual } from "node:util";
import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import { isPlainObject, ObjectShape } from "./object-shape.js";

const maxSamples = 200;

/** The entries with a common prefix and the same number of key parts. */
export class EntryPlace {
  readonly prefix: KvKey;
  /** The number of key parts after the prefix. */
  readonly parts: number;
  readonly shape: ObjectShape = new ObjectShape();
  /** For each key part after the prefix, the fields that equal it in all entries. */
  readonly keyFields: Set<string>[] = [];
  /** For each key part after the prefix, the types that it has. */
  readonly partTypes: Set<string>[] = [];
  readonly samples: KvEntry<unknown>[] = [];
  count = 0;
  objects = 0;

  constructor(prefix: KvKey, parts: number) {
    this.prefix = prefix;
    this.parts = parts;
  }

  /** True if every value is an object, so that the entries may be rows. */
  get hasOnlyObjects(): boolean {
    return this.objects === this.count;
  }

  add(entry: KvEntry<unknown>): void {
    const { key, value } = entry;
    const isObject = isPlainObject(value);
    const isFirst = this.count === 0;
    this.count++;
    if (isObject) {
      this.objects++;
      this.shape.add(value);
    }
    if (this.samples.length < maxSamples) this.samples.push(entry);
    for (const [i, part] of key.slice(this.prefix.length).entries()) {
      this.partTypes[i] ??= new Set();
      this.partTypes[i].add(typeof part === "object" ? "bytes" : typeof part);
      const known = this.keyFields[i];
      if (isFirst) {
        const fields = isObject
          ? Object.keys(value).filter((name) => isPart(value[name], part))
          : [];
        this.keyFields[i] = new Set(fields);
      } else {
        for (const name of known ?? []) {
          if (!isObject || !isPart(value[name], part)) known?.delete(name);
        }
      }
    }
  }
}

/** True if the value of a field becomes this part of a key. A date becomes a number. */
export function isPart(value: unknown, part: KvKeyPart | undefined): boolean {
  if (part === undefined || value === undefined) return false;
  return isDeepStrictEqual(value instanceof Date ? value.getTime() : value, part);
}
