import { type EmbeddedKv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { etcdErrorCodes } from "../../src/errors/codes.js";
import { EtcdCompactedError, EtcdVersionError } from "../../src/errors/etcd-errors.js";
import { type EtcdEngineOptions, etcdEngine } from "../../src/open-etcd.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

/** Part of the keys and values. No message may contain it. */
const secret = "ada@example.com";

const seen = new Set<string>();

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error = (await promise.catch((thrown: unknown) => thrown)) as Error & { code: string };
  expect(error).toBeInstanceOf(Error);
  expect(error.message).not.toContain(secret);
  seen.add(error.code);
  return error.message;
}

async function withKv<T>(options: EtcdEngineOptions, use: (kv: EmbeddedKv) => Promise<T>) {
  const kv = await openKv(await etcdEngine({ ...options, prefix: newPrefix() }));
  try {
    return await use(kv);
  } finally {
    await kv.close();
  }
}

describe("the message of", () => {
  it("EtcdVersionError names the member and the version", async () => {
    const error = new EtcdVersionError("http://10.0.0.1:2379", "3.5.2", "it is not safe");
    expect(await messageOf(Promise.reject(error))).toBe(
      "etcd 3.5.2 at http://10.0.0.1:2379 cannot be used: it is not safe. Update all members to etcd 3.4.x (3.4.0 or later) or to 3.5.6 or later.",
    );
  });

  it("EtcdCompactedError says how to keep more history", async () => {
    expect(await messageOf(Promise.reject(new EtcdCompactedError()))).toBe(
      "etcd compacted its history again and again during a read of several requests, which need the same revision. Call it again, and run etcd with --auto-compaction-mode=periodic and --auto-compaction-retention=5m, so that it keeps its history for some minutes.",
    );
  });
});

describeEtcd(
  "the message of an error from a small etcd",
  1,
  (cluster) => {
    it("EtcdRefusedError quotes etcd", async () => {
      const set = withKv(cluster(), (kv) => kv.set([secret], secret.repeat(80_000)));
      expect(await messageOf(set)).toBe(
        "etcd refused a request: etcdserver: request is too large. If the request is too large or has too many operations, divide the atomic operation, or pass the server's --max-request-bytes and --max-txn-ops to etcdEngine as maxRequestBytes and maxTxnOps.",
      );
    });

    it("EtcdOutOfSpaceError says how to make space", async () => {
      const fill = withKv(cluster(), async (kv) => {
        for (let i = 0; i < 500; i++) await kv.set([secret, i], secret.repeat(20_000));
      });
      expect(await messageOf(fill)).toBe(
        "etcd has used up its storage quota and refuses writes. Nothing was written. Compact its history, defragment its members and clear the alarm (etcdctl compact, defrag, alarm disarm), or raise --quota-backend-bytes. Run etcd with --auto-compaction-retention so that old revisions do not use up the quota.",
      );
    });

    it("EtcdAccessDeniedError names the options and the permissions", async () => {
      const { endpoints } = cluster();
      const login = etcdEngine({ endpoints, user: secret, password: secret });
      expect(await messageOf(login)).toBe(
        "etcd denies access: etcdserver: authentication is not enabled. Check the options user and password, and give the user's role read and write permission for all keys that begin with the prefix of the database.",
      );
    });

    it("every class is tested", () => {
      expect([...seen].sort()).toEqual([...etcdErrorCodes].sort());
    });
  },
  { args: ["--max-request-bytes", "1048576", "--quota-backend-bytes", "16777216"] },
);
