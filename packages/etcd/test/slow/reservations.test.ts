import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { EtcdClient } from "../../src/client/etcd-client.js";
import { etcdEngine } from "../../src/open-etcd.js";
import { KeySpace } from "../../src/record/key-space.js";
import { collect } from "../server/collect.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

describeEtcd("keys that end in the versionstamp of their commit", 1, (cluster) => {
  it("are in the order of all commits of several clients", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const kvs = await Promise.all([1, 2, 3].map(async () => openKv(await etcdEngine(options))));
    try {
      const stamps: string[] = [];
      let highest = "";
      const commitAll = async (kv: (typeof kvs)[number], client: number) => {
        for (let i = 0; i < 30; i++) {
          const before = highest;
          const isLog = (i + client) % 3 === 0;
          const key = isLog ? ["log", kv.commitVersionstamp()] : ["row", client, i];
          const { versionstamp } = await kv.set(key as string[], i);
          expect(versionstamp > before).toBe(true);
          if (versionstamp > highest) highest = versionstamp;
          if (isLog) stamps.push(versionstamp);
        }
      };
      await Promise.all(kvs.map(commitAll));
      const log = await collect(kvs[0]!.list({ prefix: ["log"] }));
      expect(log.map(({ key }) => key[1])).toEqual(stamps.sort());
      for (const { key, versionstamp } of log) expect(key[1]).toBe(versionstamp);
      const [first] = log;
      const check = { key: first!.key, versionstamp: first!.versionstamp };
      const wrong = { ...check, versionstamp: log[1]!.versionstamp };
      expect((await kvs[1]!.atomic().check(wrong).delete(check.key).commit()).ok).toBe(false);
      expect((await kvs[1]!.atomic().check(check).delete(check.key).commit()).ok).toBe(true);
    } finally {
      for (const kv of kvs) await kv.close();
    }
  });

  it("do not block commits for long if the process that reserved a revision has ended", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const kv = await openKv(await etcdEngine(options));
    const client = new EtcdClient({ endpoints: options.endpoints, timeout: 5000 });
    const { reservation } = new KeySpace(options.prefix);
    const reserve = async () => {
      const success = [{ requestPut: { key: reservation, value: Buffer.from("ended") } }];
      await client.read("KV.Txn", { success });
    };
    try {
      await reserve();
      await kv.set(["a"], 1);
      expect((await kv.get(["a"])).value).toBe(1);
      await reserve();
      await kv.set(["log", kv.commitVersionstamp()], 1);
      const { kvs } = await client.read("KV.Range", { key: reservation });
      expect(kvs).toEqual([]);
    } finally {
      client.close();
      await kv.close();
    }
  });
});
