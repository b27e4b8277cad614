import type { Buffer } from "node:buffer";
import type { EtcdClient } from "../client/etcd-client.js";
import type { KeyValue } from "../client/etcd-messages.js";

/** How many keys one request reads: fewer than the `--max-txn-ops` of etcd. */
const keysPerRequest = 100;

/**
 * Reads keys from one state of the database. Returns the entries that exist, by the texts of their
 * keys.
 *
 * @param revision the state to read. Without it, the latest one.
 */
export async function readKeys(
  client: EtcdClient,
  keys: readonly Buffer[],
  revision = 0,
): Promise<Map<string, KeyValue>> {
  const found = new Map<string, KeyValue>();
  const distinct = [...new Map(keys.map((key) => [key.toString("latin1"), key])).values()];
  const read = async (part: readonly Buffer[], at: number): Promise<number> => {
    const success = part.map((key) => ({ requestRange: { key, revision: at } }));
    const response = await client.read("KV.Txn", { success });
    for (const { responseRange } of response.responses) {
      for (const entry of responseRange!.kvs) found.set(entry.key.toString("latin1"), entry);
    }
    return response.header.revision;
  };
  const parts: Buffer[][] = [];
  for (let start = 0; start < distinct.length; start += keysPerRequest) {
    parts.push(distinct.slice(start, start + keysPerRequest));
  }
  const [first, ...others] = parts;
  if (first === undefined) return found;
  const latest = await read(first, revision);
  const at = revision === 0 ? latest : revision;
  await Promise.all(others.map((part) => read(part, at)));
  return found;
}
