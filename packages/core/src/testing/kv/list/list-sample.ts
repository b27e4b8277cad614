import type { KvKey } from "../../../keys/key.js";
import type { Kv } from "../../../kv/kv.js";

const sample: KvKey[] = [
  ["a"],
  ["a", 9],
  ["b"],
  ["b", Uint8Array.of(0)],
  ["b", "x"],
  ["b", 1],
  ["b", 2],
  ["b", 2, "p"],
  ["b", 2, "q"],
  ["b", true],
  ["b\0"],
  ["c"],
];

/** Stores the sample keys. The value of each key is its index. */
export async function fillSample(kv: Kv): Promise<void> {
  const atomic = kv.atomic();
  // Last to first, so that the order of the keys differs from the order of the writes.
  for (const key of sample.toReversed()) atomic.set(key, sample.indexOf(key));
  await atomic.commit();
}
