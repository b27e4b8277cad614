import type { Buffer } from "node:buffer";
import type { EtcdClient } from "./etcd-client.js";
import type { KeyValue, RangeRequest } from "./etcd-messages.js";

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
    const ranges = part.map((key) => ({ key, revision: at }));
    const [range] = ranges;
    const { header, entries } =
      ranges.length === 1 ? await readOne(client, range!) : await readTogether(client, ranges);
    for (const entry of entries) found.set(entry.key.toString("latin1"), entry);
    return header.revision;
  };
  const parts: Buffer[][] = [];
  for (let start = 0; start < distinct.length; start += keysPerRequest) {
    parts.push(distinct.slice(start, start + keysPerRequest));
  }
  const [first, ...others] = parts;
  if (first === undefined) return found;
  const latest = await read(first, revision);
  const at = revision === 0 ? latest : revision;
  const reads = others.map((part) => read(part, at));
  // All of them end first, so that none is left running if one fails.
  await Promise.allSettled(reads);
  await Promise.all(reads);
  return found;
}

async function readOne(client: EtcdClient, range: RangeRequest) {
  const { header, kvs } = await client.read("KV.Range", range);
  return { header, entries: kvs };
}

async function readTogether(client: EtcdClient, ranges: readonly RangeRequest[]) {
  const success = ranges.map((requestRange) => ({ requestRange }));
  const { header, responses } = await client.read("KV.Txn", { success });
  return { header, entries: responses.flatMap(({ responseRange }) => responseRange!.kvs) };
}
