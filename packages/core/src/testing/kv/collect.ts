import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import type { KvEntry, KvListIterator } from "../../kv/kv.js";

/** All entries of an iterator. */
export async function collect<T>(iterator: KvListIterator<T>): Promise<KvEntry<T>[]> {
  const entries: KvEntry<T>[] = [];
  for await (const entry of iterator) {
    entries.push(entry);
    assert.ok(entries.length <= 10_000, "it does not end");
  }
  return entries;
}

/** The keys of all entries of an iterator. */
export async function keysOf(iterator: KvListIterator<unknown>): Promise<KvKey[]> {
  return (await collect(iterator)).map((entry) => entry.key);
}

/** The values of all entries of an iterator. */
export async function valuesOf<T>(iterator: KvListIterator<T>): Promise<T[]> {
  return (await collect(iterator)).map((entry) => entry.value);
}
