import { type ServiceError, status } from "@grpc/grpc-js";
import {
  AmbiguousCommitError,
  encodeKey,
  KvU64,
  openKv,
  type StoredMutation,
} from "@keywright/core";
import { expect, it } from "vitest";
import { CallFailure } from "../../src/client/call-failure.js";
import { EtcdClient } from "../../src/client/etcd-client.js";
import type { EtcdCalls } from "../../src/client/etcd-messages.js";
import { EtcdEngine } from "../../src/etcd-engine.js";
import { etcdEngine } from "../../src/open-etcd.js";
import { KeySpace } from "../../src/record/key-space.js";
import { collect } from "../server/collect.js";
import { LossyProxy } from "../server/lossy-proxy.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

describeEtcd("a commit whose reply is lost", 1, (cluster) => {
  const withProxy = async (
    deadline: number,
    test: (kv: Awaited<ReturnType<typeof openKv>>, proxy: LossyProxy) => Promise<void>,
  ) => {
    const proxy = await LossyProxy.start(cluster().endpoints[0]!);
    const prefix = newPrefix();
    const kv = await openKv(await etcdEngine({ endpoints: [proxy.endpoint], prefix, deadline }));
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
    const proxy = await LossyProxy.start(cluster().endpoints[0]!);
    const engine = await etcdEngine({ endpoints: [proxy.endpoint], prefix: newPrefix() });
    const key = (name: string) => encodeKey([name]);
    const value = Uint8Array.of(1);
    const set = (name: string, expireAt?: number): StoredMutation =>
      expireAt === undefined
        ? { type: "set", key: key(name), value }
        : { type: "set", key: key(name), value, expireAt };
    const write = (name: string, check?: string, versionstamp: string | null = null) => ({
      checks: check === undefined ? [] : [{ key: key(check), versionstamp }],
      mutations: [set(name)],
      sync: true,
    });
    try {
      const gone = set("gone", Date.now() - 1);
      const before = { checks: [], mutations: [set("old"), gone], sync: true };
      const [stamp] = (await engine.commit([before])) as string[];
      proxy.loseReplies(1);
      const outcomes = await engine.commit([
        write("new", "new"),
        write("x", "old"),
        write("y", "old", stamp),
        write("z", "gone"),
        write("free"),
      ]);
      expect(proxy.hasLost).toBe(true);
      const names = ["new", "x", "y", "z", "free"];
      const entries = await engine.getMany(names.map(key));
      expect(outcomes).toEqual(entries.map((entry) => entry?.versionstamp ?? null));
      expect(outcomes.map((outcome) => outcome !== null)).toEqual([true, false, true, true, true]);
    } finally {
      await engine.close();
      await proxy.stop();
    }
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

  it("has no effect after a later commit, however late its request arrives", async () => {
    const client = new SlowClient({ endpoints: cluster().endpoints, timeout: 300 });
    const engine = new EtcdEngine(client, new KeySpace(newPrefix()), {
      maxTxnOps: 128,
      maxRequestBytes: 1_572_864,
    });
    const commit = async (...key: string[]) => {
      const set = { type: "set" as const, key: encodeKey(key), value: Uint8Array.of(1) };
      const [outcome] = await engine.commit([{ checks: [], mutations: [set], sync: true }]);
      return outcome;
    };
    try {
      for (const isFirst of [true, false]) {
        client.isHolding = true;
        expect(await commit("late", String(isFirst))).toBeInstanceOf(AmbiguousCommitError);
        client.isHolding = false;
        expect(await commit("next")).toBeTypeOf("string");
        await client.deliver();
        expect(await engine.get(encodeKey(["late", String(isFirst)]))).toBeUndefined();
      }
    } finally {
      await engine.close();
    }
  });
});

/** Holds transactions back, as a network may do. */
class SlowClient extends EtcdClient {
  isHolding = false;
  #held: EtcdCalls["KV.Txn"][0][] = [];

  override async attempt<Name extends keyof EtcdCalls>(
    ...call: [name: Name, request: EtcdCalls[Name][0], time: number]
  ): Promise<EtcdCalls[Name][1]> {
    if (!this.isHolding || call[0] !== "KV.Txn") return await super.attempt(...call);
    this.#held.push(call[1] as EtcdCalls["KV.Txn"][0]);
    const error = { code: status.DEADLINE_EXCEEDED, details: "held" } as ServiceError;
    throw new CallFailure("held", error);
  }

  async deliver(): Promise<void> {
    for (const request of this.#held) await super.attempt("KV.Txn", request, 1000);
    this.#held = [];
  }
}
