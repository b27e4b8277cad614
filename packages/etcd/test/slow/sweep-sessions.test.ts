import { Buffer } from "node:buffer";
import { KvU64, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { EtcdClient } from "../../src/client/etcd-client.js";
import { sweepSessions } from "../../src/commit/sweep-sessions.js";
import { etcdEngine } from "../../src/open-etcd.js";
import { KeySpace } from "../../src/record/key-space.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

const hour = 3_600_000;
const minute = 60_000;

describeEtcd("the records of sessions", 1, (cluster) => {
  const withClient = async (
    test: (client: EtcdClient, keys: KeySpace, prefix: string) => Promise<void>,
  ) => {
    const client = new EtcdClient({ endpoints: cluster().endpoints, timeout: 10_000 });
    const prefix = newPrefix();
    try {
      await test(client, new KeySpace(prefix), prefix);
    } finally {
      client.close();
    }
  };

  /** Stores the record of a session that sent its last batch at this time. */
  const store = async (client: EtcdClient, keys: KeySpace, id: string, lastUse: number) => {
    const value = Buffer.alloc(16);
    value.writeBigUInt64BE(1n);
    value.writeBigUInt64BE(BigInt(lastUse), 8);
    const requestPut = { key: keys.sessionOf(Buffer.from(id)), value };
    await client.read("KV.Txn", { success: [{ requestPut }] });
  };
  /** Returns the ids of the sessions that have records. */
  const stored = async (client: EtcdClient, keys: KeySpace) => {
    const { kvs } = await client.read("KV.Range", keys.sessions);
    return kvs.map(({ key }) => key.subarray(keys.sessions.key.length).toString());
  };

  it("are removed an hour after their last batch, and not before", async () => {
    await withClient(async (client, keys) => {
      const other = new KeySpace(newPrefix());
      await store(client, other, "of another database", Date.now() - 2 * hour);
      await store(client, keys, "old", Date.now() - 2 * hour);
      await store(client, keys, "at work", Date.now() - hour + 10 * minute);
      await store(client, keys, "just ended", Date.now() - hour - minute);
      await sweepSessions(client, keys);
      expect(await stored(client, keys)).toEqual(["at work"]);
      expect(await stored(client, other)).toEqual(["of another database"]);
    });
  });

  it("are removed a hundred at a time, the oldest first, however many are at work", async () => {
    await withClient(async (client, keys) => {
      const old = Array.from({ length: 130 }, (_, i) => `z${1000 + i}`);
      for (const id of old) await store(client, keys, id, Date.now() - 2 * hour);
      // Their keys are before those of the old ones.
      const busy = Array.from({ length: 130 }, (_, i) => `a${1000 + i}`);
      for (const id of busy) await store(client, keys, id, Date.now());
      await sweepSessions(client, keys);
      expect(await stored(client, keys)).toEqual([...busy, ...old.slice(100)]);
      await sweepSessions(client, keys);
      expect(await stored(client, keys)).toEqual(busy);
    });
  });

  it("are swept by the first commit of a process, which then has one of its own", async () => {
    await withClient(async (client, keys, prefix) => {
      const open = async () =>
        await openKv(await etcdEngine({ endpoints: cluster().endpoints, prefix }));
      await (await open()).close();
      await store(client, keys, "old", Date.now() - 2 * hour);
      const before = await stored(client, keys);
      const kv = await open();
      try {
        await kv.atomic().sum(["n"], 1n).commit();
        // No commit waits for the sweep.
        while ((await stored(client, keys)).includes("old")) await kv.get(["n"]);
        expect(await stored(client, keys)).toHaveLength(before.length);
        // The record is removed although the process still exists: it gets another one.
        const { kvs } = await client.read("KV.Range", keys.sessions);
        for (const record of kvs) {
          await client.read("KV.Txn", { success: [{ requestDeleteRange: { key: record.key } }] });
        }
        await kv.atomic().sum(["n"], 1n).commit();
        await kv.atomic().sum(["n"], 1n).commit();
        expect((await kv.get(["n"])).value).toEqual(new KvU64(3n));
        const renewed = await client.read("KV.Range", keys.sessions);
        expect(renewed.kvs).toHaveLength(1);
        expect(kvs.map(({ key }) => key)).not.toContainEqual(renewed.kvs[0]!.key);
      } finally {
        await kv.close();
      }
    });
  });
});
