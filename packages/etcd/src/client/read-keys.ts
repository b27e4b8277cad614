import type { Buffer } from "node:buffer";
import type { KeyValue } from "./etcd-messages.js";
import type { Snapshot } from "./snapshot.js";

/** How many keys one request reads: fewer than the `--max-txn-ops` of etcd. */
const keysPerRequest = 100;

/** Reads keys. Returns the entries that exist, by the texts of their keys. */
export async function readKeys(
  snapshot: Snapshot,
  keys: readonly Buffer[],
): Promise<Map<string, KeyValue>> {
  const distinct = [...new Map(keys.map((key) => [key.toString("latin1"), key])).values()];
  const reads: ReturnType<Snapshot["read"]>[] = [];
  for (let start = 0; start < distinct.length; start += keysPerRequest) {
    const part = distinct.slice(start, start + keysPerRequest);
    reads.push(snapshot.read(part.map((key) => ({ key }))));
  }
  // All of them end first, so that none is left running if one fails.
  await Promise.allSettled(reads);
  const found = (await Promise.all(reads)).flat().flatMap(({ kvs }) => kvs);
  return new Map(found.map((entry) => [entry.key.toString("latin1"), entry]));
}
