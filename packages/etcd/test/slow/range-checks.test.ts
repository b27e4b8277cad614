import { type EmbeddedKv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { EtcdClient } from "../../src/client/etcd-client.js";
import { sweepSessions } from "../../src/commit/sweep-sessions.js";
import { etcdEngine } from "../../src/open-etcd.js";
import { KeySpace } from "../../src/record/key-space.js";
import { collect } from "../server/collect.js";
import { LossyProxy } from "../server/lossy-proxy.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

const seats = { prefix: ["seat"] };

describeEtcd("range checks of several processes", 1, (cluster) => {
  const withKvs = async (
    count: number,
    test: (kvs: EmbeddedKv[], client: EtcdClient, keys: KeySpace) => Promise<void>,
    endpoints = cluster().endpoints,
  ) => {
    const prefix = newPrefix();
    const open = async () => openKv(await etcdEngine({ endpoints, prefix }));
    const kvs = await Promise.all(Array.from({ length: count }, open));
    const client = new EtcdClient({ endpoints, timeout: 10_000 });
    try {
      await test(kvs, client, new KeySpace(prefix));
    } finally {
      client.close();
      for (const kv of kvs) await kv.close();
    }
  };
  /** Returns the versionstamp of the state that the database has now. */
  const stateOf = async (kv: EmbeddedKv) => {
    using view = (await kv.openView({ atFirstRead: true }))!;
    await view.get(["any"]);
    return view.versionstamp!;
  };
  const commit = async (kv: EmbeddedKv, since: string, name = "new") =>
    (await kv.atomic().checkRange!(seats, since).set(["log", name], name).commit()).ok;

  it("let a range have no more entries than its writers permit, also while some are deleted", async () => {
    await withKvs(3, async (kvs) => {
      let deleted = 0;
      const work = async (kv: EmbeddedKv, worker: number) => {
        for (let i = 0; i < 25; ) {
          using view = (await kv.openView({ atFirstRead: true }))!;
          const taken = await collect(view.list(seats));
          expect(taken.length).toBeLessThanOrEqual(2);
          const operation = kv.atomic().checkRange!(seats, view.versionstamp!);
          if (taken.length < 2) operation.set(["seat", `${worker} ${i}`], i);
          else operation.delete(taken[i % 2]!.key);
          if (!(await operation.commit()).ok) continue;
          deleted += taken.length === 2 ? 1 : 0;
          i++;
        }
      };
      // Two in each process.
      await Promise.all([...kvs, ...kvs].map(work));
      expect((await collect(kvs[0]!.list(seats))).length).toBe(150 - 2 * deleted);
    });
  });

  it("notice what others delete, and no change of other keys", async () => {
    await withKvs(2, async ([a, b]) => {
      await a!.set(["seat", 1], 1);
      const since = await stateOf(a!);
      await b!.set(["other"], 1);
      await b!.delete(["seat", 2]);
      expect(await commit(a!, since)).toBe(true);
      await b!.delete(["seat", 1]);
      expect(await commit(a!, since)).toBe(false);
      expect(await commit(a!, await stateOf(a!))).toBe(true);
    });
  });

  it("notice the commit whose revision is reserved while a view is opened", async () => {
    await withKvs(2, async ([a, b], client, { reservation }) => {
      await a!.set(["seat", 1], 1);
      const token = Buffer.from("another process");
      await client.read("KV.Txn", {
        success: [{ requestPut: { key: reservation, value: token } }],
      });
      const views = [await stateOf(a!), await b!.openView()];
      const stamps = [views[0] as string, (views[1] as { versionstamp: string }).versionstamp];
      const { kvs } = await client.read("KV.Range", { key: reservation });
      const reserved = kvs[0]!.modRevision.toString(16).padStart(16, "0");
      for (const stamp of stamps) expect(stamp < reserved).toBe(true);
      // The commit of the other process, and of this one after the reservation has ended.
      await b!.set(["seat", b!.commitVersionstamp()], 1);
      for (const stamp of stamps) expect(await commit(a!, stamp)).toBe(false);
    });
  });

  it("fail if etcd has compacted the state that they need", async () => {
    await withKvs(2, async ([a, b], client) => {
      await a!.set(["seat", 1], 1);
      const since = await stateOf(a!);
      await b!.set(["other"], 1);
      const { header } = await client.read("KV.Range", { key: Buffer.from("any") });
      await client.read("KV.Compact", { revision: header.revision });
      expect(await commit(a!, since)).toBe(false);
    });
  });

  it("have one outcome if the reply is lost", async () => {
    const proxy = await LossyProxy.start(cluster().endpoints[0]!);
    try {
      await withKvs(
        2,
        async ([a, b]) => {
          for (const isChanged of [false, true]) {
            const since = await stateOf(a!);
            if (isChanged) await b!.set(["seat", 1], 1);
            proxy.loseReplies(1);
            expect(await commit(a!, since, `changed: ${isChanged}`)).toBe(!isChanged);
            expect(proxy.hasLost).toBe(true);
            const { value } = await b!.get(["log", `changed: ${isChanged}`]);
            expect(value === null).toBe(isChanged);
          }
        },
        [proxy.endpoint],
      );
    } finally {
      await proxy.stop();
    }
  });

  it("notice a batch whose session has been swept, because the clocks differ", async () => {
    await withKvs(2, async ([a, b], client, keys) => {
      await a!.set(["seat", 1], 1);
      const since = await stateOf(a!);
      await b!.delete(["seat", 1]);
      const { kvs } = await client.read("KV.Range", { ...keys.sessions, sortTarget: "MOD" });
      const record = kvs.reduce((x, y) => (x.modRevision > y.modRevision ? x : y));
      record.value.writeBigUInt64BE(0n, 8);
      const requestPut = { key: record.key, value: record.value };
      await client.read("KV.Txn", { success: [{ requestPut }] });
      await sweepSessions(client, keys);
      expect((await client.read("KV.Range", keys.sessions)).kvs).toHaveLength(1);
      expect(await commit(a!, since)).toBe(false);
    });
  });
});
