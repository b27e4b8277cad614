import { Buffer } from "node:buffer";
import type { EtcdClient } from "../client/etcd-client.js";
import type { KeySpace } from "../record/key-space.js";
import { lastUseOf } from "./commit-session.js";
import { hasRevision } from "./transaction.js";

/** Milliseconds after its last batch when the record of a session is removed. */
export const longestIdle: number = 3_600_000;
/** How many records one sweep removes at most. */
const sweepSize = 100;

/** Removes the records of sessions whose processes have ended, or have not written for an hour. */
export async function sweepSessions(client: EtcdClient, keys: KeySpace): Promise<void> {
  const { kvs } = await client.read("KV.Range", {
    ...keys.sessions,
    limit: sweepSize,
    // The oldest, however many sessions there are.
    sortTarget: "MOD",
    sortOrder: "ASCEND",
  });
  const now = Date.now();
  const idle = kvs.filter((record) => lastUseOf(record) < now - longestIdle);
  if (idle.length === 0) return;
  const removals = idle.map(({ key, modRevision }) => ({
    requestTxn: {
      compare: [hasRevision(key, modRevision)],
      success: [{ requestDeleteRange: { key } }],
    },
  }));
  // A commit may count on noticing each batch by the record of its session.
  const put = { requestPut: { key: keys.sweep, value: Buffer.alloc(0) } };
  await client.read("KV.Txn", { success: [put, ...removals] });
}
