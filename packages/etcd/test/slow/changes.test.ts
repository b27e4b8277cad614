import { type Engine, encodeKey } from "@keywright/core";
import { expect, it } from "vitest";
import { EtcdClient } from "../../src/client/etcd-client.js";
import type { EtcdCalls } from "../../src/client/etcd-messages.js";
import { EtcdCompactedError } from "../../src/errors/etcd-errors.js";
import { EtcdEngine } from "../../src/etcd-engine.js";
import { etcdEngine } from "../../src/open-etcd.js";
import { KeySpace } from "../../src/record/key-space.js";
import { LossyProxy } from "../server/lossy-proxy.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

const everything = { start: Uint8Array.of(1), end: Uint8Array.of(0xff) };

async function set(engine: Engine, ...key: (string | number)[]): Promise<void> {
  const mutation = { type: "set" as const, key: encodeKey(key), value: Uint8Array.of(1) };
  const write = { checks: [], mutations: [mutation], sync: true };
  expect((await engine.commit([write]))[0]).toBeTypeOf("string");
}

describeEtcd("the changes of other processes", 1, (cluster) => {
  /** Calls `test` with an engine behind a proxy, and with another engine on the same database. */
  const withEngines = async (
    test: (engine: Engine, other: Engine, proxy: LossyProxy) => Promise<void>,
  ) => {
    const { endpoints } = cluster();
    const proxy = await LossyProxy.start(endpoints[0]!);
    const prefix = newPrefix();
    const engine = await etcdEngine({ endpoints: [proxy.endpoint], prefix });
    const other = await etcdEngine({ endpoints, prefix });
    try {
      await test(engine, other, proxy);
    } finally {
      await engine.close();
      await other.close();
      await proxy.stop();
    }
  };

  it("are all reported in their order, although the connection is lost in between", async () => {
    await withEngines(async (engine, other, proxy) => {
      const reported: string[] = [];
      let wake = () => {};
      engine.watchRanges([everything], (keys) => {
        for (const key of keys ?? []) reported.push(Buffer.from(key).toString("hex"));
        wake();
      });
      const expected: string[] = [];
      for (let i = 0; i < 40; i++) {
        if (i % 10 === 5) proxy.disconnect();
        await set(i % 4 === 0 ? engine : other, "key", i);
        expected.push(Buffer.from(encodeKey(["key", i])).toString("hex"));
      }
      while (reported.length < expected.length) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      expect(reported).toEqual(expected);
    });
  });

  it("are reported as unknown if etcd has compacted them before they were received", async () => {
    await withEngines(async (engine, other, proxy) => {
      const reported: unknown[] = [];
      let isWatched = 0;
      const unknown = new Promise<void>((resolve) => {
        engine.watchRanges([everything], (keys) => {
          reported.push(keys);
          if (keys === undefined) resolve();
        });
        engine.watch([encodeKey(["a"])], () => {
          isWatched++;
        });
      });
      await set(engine, "first");
      proxy.beDown(true);
      for (let i = 0; i < 5; i++) await set(other, "missed", i);
      const client = new EtcdClient({ endpoints: cluster().endpoints, timeout: 5000 });
      await client.read("KV.Range", { key: Uint8Array.of(1) });
      await client.read("KV.Compact", { revision: client.lastRevision });
      client.close();
      proxy.beDown(false);
      await unknown;
      expect(isWatched).toBeGreaterThan(0);
      // And the stream continues with what comes next.
      const next = new Promise<void>((resolve) => {
        engine.watch([encodeKey(["next"])], resolve);
      });
      await set(other, "next");
      await next;
    });
  });

  it("do not break a read of several requests whose revision is compacted in between", async () => {
    const client = new CompactingClient({ endpoints: cluster().endpoints, timeout: 5000 });
    const limits = { maxTxnOps: 128, maxRequestBytes: 1_572_864 };
    const engine = new EtcdEngine(client, new KeySpace(newPrefix()), limits);
    try {
      for (let i = 0; i < 700; i += 100) {
        await engine.commit(
          Array.from({ length: 100 }, (_, j) => ({
            checks: [],
            mutations: [{ type: "set", key: encodeKey([i + j]), value: Uint8Array.of(1) }],
            sync: true,
          })),
        );
      }
      client.compactions = 2;
      const entries = await engine.getRange({ range: everything, limit: 700, reverse: false });
      expect(entries.length).toBe(700);
      expect(client.compactions).toBe(0);
      client.compactions = 2;
      const keys = entries.map(({ key }) => key);
      expect((await engine.getMany(keys)).every((entry) => entry !== undefined)).toBe(true);
      expect(client.compactions).toBe(0);
      client.compactions = Number.POSITIVE_INFINITY;
      await expect(engine.getMany(keys)).rejects.toThrow(EtcdCompactedError);
    } finally {
      await engine.close();
    }
  });
});

describeEtcd("a view", 1, (cluster) => {
  it("ends when etcd has compacted its revision", async () => {
    const { endpoints } = cluster();
    const engine = await etcdEngine({ endpoints, prefix: newPrefix() });
    const client = new EtcdClient({ endpoints, timeout: 5000 });
    try {
      await set(engine, "a");
      const view = await engine.openView!();
      await set(engine, "a");
      expect(await view.get(encodeKey(["a"]))).toBeDefined();
      await client.read("KV.Range", { key: Uint8Array.of(1) });
      await client.read("KV.Compact", { revision: client.lastRevision });
      const ended = { code: "KW_READ_VIEW_ENDED", retryable: true };
      const read = { range: everything, limit: 10, reverse: false };
      await expect(async () => await view.getRange(read)).rejects.toMatchObject(ended);
      await expect(async () => await view.get(encodeKey(["a"]))).rejects.toMatchObject(ended);
      view.close();
    } finally {
      client.close();
      await engine.close();
    }
  });
});

/** Compacts all revisions after the first request of a read. */
class CompactingClient extends EtcdClient {
  compactions = 0;

  override async read<Name extends keyof EtcdCalls>(
    name: Name,
    request: EtcdCalls[Name][0],
  ): Promise<EtcdCalls[Name][1]> {
    const response = await super.read(name, request);
    if (this.compactions === 0 || name === "KV.Compact") return response;
    this.compactions--;
    const requestPut = { key: Buffer.from("another database"), value: Buffer.of() };
    const { header } = await super.read("KV.Txn", { success: [{ requestPut }] });
    await super.read("KV.Compact", { revision: header.revision });
    return response;
  }
}
