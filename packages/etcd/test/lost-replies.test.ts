import { AmbiguousCommitError, KvU64, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { etcdEngine } from "../src/open-etcd.js";
import { collect } from "./server/collect.js";
import { LossyProxy } from "./server/lossy-proxy.js";
import { describeEtcd, newPrefix } from "./server/shared-cluster.js";

describeEtcd("a commit whose reply is lost", 1, (cluster) => {
  const withProxy = async (
    timeout: number,
    test: (kv: Awaited<ReturnType<typeof openKv>>, proxy: LossyProxy) => Promise<void>,
  ) => {
    const proxy = await LossyProxy.start(cluster().endpoints[0]!);
    const prefix = newPrefix();
    const kv = await openKv(await etcdEngine({ endpoints: [proxy.endpoint], prefix, timeout }));
    try {
      await test(kv, proxy);
    } finally {
      await kv.close();
      await proxy.stop();
    }
  };

  it("is applied once, and resolves with the versionstamp of its only application", async () => {
    await withProxy(10_000, async (kv, proxy) => {
      for (let round = 1; round <= 4; round++) {
        const key = ["row", round];
        proxy.loseReplies(round);
        const created = await kv.atomic().check({ key, versionstamp: null }).set(key, 1).commit();
        expect(proxy.hasLost).toBe(true);
        const { versionstamp } = await kv.get(key);
        expect(created).toEqual({ ok: true, versionstamp });
      }
      for (let round = 1; round <= 4; round++) {
        // The first reply is that of the read.
        proxy.loseReplies(round, 1);
        const added = await kv.atomic().sum(["n"], 1n).commit();
        expect(proxy.hasLost).toBe(true);
        const { value, versionstamp } = await kv.get(["n"]);
        expect(value).toEqual(new KvU64(BigInt(round)));
        expect(added).toEqual({ ok: true, versionstamp });
      }
    });
  });

  it("resolves as its checks did, each commit of the batch by itself", async () => {
    await withProxy(10_000, async (kv, proxy) => {
      const { versionstamp } = await kv.set(["old"], 1);
      await kv.set(["gone"], 1, { expireIn: 1 });
      await new Promise((resolve) => setTimeout(resolve, 10));
      proxy.loseReplies(1);
      const results = await Promise.all([
        kv
          .atomic()
          .check({ key: ["new"], versionstamp: null })
          .set(["new"], 1)
          .commit(),
        kv
          .atomic()
          .check({ key: ["old"], versionstamp: null })
          .set(["x"], 1)
          .commit(),
        kv
          .atomic()
          .check({ key: ["old"], versionstamp })
          .set(["y"], 1)
          .commit(),
        kv
          .atomic()
          .check({ key: ["gone"], versionstamp: null })
          .set(["z"], 1)
          .commit(),
        kv.set(["free"], 1),
      ]);
      expect(proxy.hasLost).toBe(true);
      expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true, true]);
      const entries = await kv.getMany([["new"], ["x"], ["y"], ["z"], ["free"]]);
      const stamps = results.map((result) => (result.ok ? result.versionstamp : null));
      expect(entries.map((entry) => entry.versionstamp)).toEqual(stamps);
    });
  });

  it("rejects when the time is over, and is applied at most once, before later commits", async () => {
    await withProxy(1500, async (kv, proxy) => {
      await kv.atomic().sum(["n"], 1n).commit();
      const watch = kv.watchRange([{ prefix: [] }]).getReader();
      proxy.beSilent(true);
      const ambiguous = kv.atomic().set(["a"], 1).commit();
      await expect(ambiguous).rejects.toThrow(AmbiguousCommitError);
      proxy.beSilent(false);
      await kv.set(["b"], 1);
      const { value, versionstamp } = await kv.get(["a"]);
      expect([1, null]).toContain(value);
      if (value === 1) {
        // A watch reports it although its commit could not.
        const reported: unknown[] = [];
        while (!reported.includes("a")) reported.push(...(await watch.read()).value!.keys.flat());
        expect(versionstamp! < (await kv.get(["b"])).versionstamp!).toBe(true);
      }
      await kv.atomic().sum(["n"], 1n).commit();
      expect((await kv.get(["n"])).value).toEqual(new KvU64(2n));
    });
  });

  it("has the reserved revision in its keys, whichever of the replies is lost", async () => {
    await withProxy(10_000, async (kv, proxy) => {
      const rounds = [0, 1, 2, 3].flatMap((passed) => [1, 2].map((lost) => ({ passed, lost })));
      for (const [round, { passed, lost }] of rounds.entries()) {
        proxy.loseReplies(lost, passed);
        const { versionstamp } = await kv.set(["log", kv.commitVersionstamp()], round);
        expect((await kv.get(["log", versionstamp])).value).toBe(round);
        proxy.loseReplies(0);
      }
      const log = await collect(kv.list<number>({ prefix: ["log"] }));
      expect(log.map(({ value }) => value)).toEqual(rounds.map((_, round) => round));
      for (const { key, versionstamp } of log) expect(key[1]).toBe(versionstamp);
    });
  });
});
