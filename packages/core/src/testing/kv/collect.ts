import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import type { KvEntry, KvListIterator } from "../../kv/kv.js";

/** Reads all entries of an iterator. Fails if there are more than 10,000. */
export async function collect<T>(iterator: KvListIterator<T>): Promise<KvEntry<T>[]> {
  const entries: KvEntry<T>[] = [];
  for await (const entry of iterator) {
    entries.push(entry);
    assert.ok(entries.length <= 10_000, "it does not end");
  }
  return entries;
}

export async function keysOf(iterator: KvListIterator<unknown>): Promise<KvKey[]> {
  return (await collect(iterator)).map((entry) => entry.key);
}

export async function valuesOf<T>(iterator: KvListIterator<T>): Promise<T[]> {
  return (await collect(iterator)).map((entry) => entry.value);
}
