import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  DatabaseFormatError,
  EngineUnavailableError,
  InvalidOptionError,
  KvU64,
  LimitExceededError,
  openKv,
} from "@keywright/core";
import { describe, expect, it, vi } from "vitest";
import { EtcdClient } from "../../src/client/etcd-client.js";
import { EtcdAccessDeniedError, EtcdOutOfSpaceError } from "../../src/errors/etcd-errors.js";
import { type EtcdEngineOptions, etcdEngine } from "../../src/open-etcd.js";
import { KeySpace } from "../../src/record/key-space.js";
import { versionProblem } from "../../src/version/version-problem.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

describe("the options of etcdEngine", () => {
  it("are refused if they are not valid", async () => {
    const endpoints = ["http://127.0.0.1:1"];
    const invalid: [option: string, EtcdEngineOptions][] = [
      ["endpoints", { endpoints: [] }],
      ["endpoints", { endpoints: ["127.0.0.1:2379"] }],
      ["endpoints", {} as EtcdEngineOptions],
      ["prefix", { endpoints, prefix: "" }],
      ["prefix", { endpoints, prefix: "a\0b" }],
      ["password", { endpoints, user: "ada" }],
      ["user", { endpoints, password: "secret" }],
      ["deadline", { endpoints, deadline: 0 }],
      ["maxTxnOps", { endpoints, maxTxnOps: 64 }],
      ["maxRequestBytes", { endpoints, maxRequestBytes: 1.5 }],
      ["createIfMissing", { endpoints, createIfMissing: 1 as never }],
    ];
    for (const [option, options] of invalid) {
      const error = await etcdEngine(options).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect((error as InvalidOptionError).option).toBe(option);
    }
  });
});

describe("a version of etcd", () => {
  it("is refused before 3.4, and from 3.5.0 to 3.5.5", () => {
    const refused = ["2.3.8", "3.3.27", "3.5.0", "3.5.5", "3.5.0-rc.0"];
    const accepted = ["3.4.0", "3.4.23", "3.5.6", "3.5.21", "3.6.0", "4.0.0"];
    for (const version of refused) expect(versionProblem(version)).toBeTypeOf("string");
    for (const version of accepted) expect(versionProblem(version)).toBeUndefined();
  });
});

describeEtcd("opening a database", 1, (cluster) => {
  it("fails with the endpoints if none of them answers in time", async () => {
    const endpoints = ["http://127.0.0.1:1", "http://localhost:2"];
    const opening = etcdEngine({ endpoints, deadline: 300 });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EngineUnavailableError);
    expect((error as Error).message).toContain("http://127.0.0.1:1, http://localhost:2");
    expect((error as Error).message).toContain("ECONNREFUSED");
    expect((error as Error).message).toContain("Check that most members of the cluster run");
  });

  it("fails if the endpoint does not speak TLS", async () => {
    const endpoints = cluster().endpoints.map((url) => url.replace("http:", "https:"));
    await expect(etcdEngine({ endpoints, deadline: 300 })).rejects.toThrow(EngineUnavailableError);
  });

  it("uses the endpoints that answer", async () => {
    const endpoints = ["http://127.0.0.1:1", ...cluster().endpoints];
    const kv = await openKv(await etcdEngine({ endpoints, prefix: newPrefix() }));
    try {
      await kv.set(["a"], 1);
      expect((await kv.get(["a"])).value).toBe(1);
    } finally {
      await kv.close();
    }
  });

  it("fails if there is no database and none may be created", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix(), createIfMissing: false };
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(etcdEngine(options)).rejects.toMatchObject({
        code: "KW_DATABASE_NOT_FOUND",
        message: `There is no database with the prefix ${options.prefix} in etcd, and none was created. Correct the options of the engine, or create the database first: openKv does, unless readOnly is true or createIfMissing is false.`,
      });
    }
    await (await openKv(await etcdEngine({ ...options, createIfMissing: true }))).close();
    await (await openKv(await etcdEngine(options), { createIfMissing: false })).close();
  });

  it("refuses keys that are not Keywright's, and a later format", async () => {
    const { endpoints } = cluster();
    const client = new EtcdClient({ endpoints, timeout: 5000 });
    try {
      const put = async (key: Uint8Array, value: string) => {
        const requestPut = { key, value: Buffer.from(value) };
        await client.read("KV.Txn", { success: [{ requestPut }] });
      };
      const [other, foreign, later] = [newPrefix(), newPrefix(), newPrefix()];
      await put(new KeySpace(other).keyOf(Buffer.from("x")), "x");
      await put(new KeySpace(foreign).header, "another program's");
      await put(new KeySpace(later).header, "keywright\u0002");
      const reasons: [prefix: string, reason: string][] = [
        [other, `other data is stored under the prefix ${other}`],
        [foreign, `other data is stored under the prefix ${foreign}`],
        [later, `its prefix is ${later}, and it has the unknown format 2`],
      ];
      for (const [prefix, reason] of reasons) {
        const error = await etcdEngine({ endpoints, prefix }).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(DatabaseFormatError);
        expect((error as Error).message).toBe(
          `The database cannot be read: ${reason}. Check that it is the right database, and update Keywright if a later version wrote the database.`,
        );
      }
    } finally {
      client.close();
    }
  });

  it("refuses the other mode of the same database", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    await (await openKv(await etcdEngine(options), { compat: "deno" })).close();
    const engine = await etcdEngine(options);
    await expect(openKv(engine)).rejects.toMatchObject({ code: "KW_DATABASE_MODE" });
    await engine.close();
  });

  it("keeps databases with different prefixes apart", async () => {
    const { endpoints } = cluster();
    const prefix = newPrefix();
    const a = await openKv(await etcdEngine({ endpoints, prefix }));
    const b = await openKv(await etcdEngine({ endpoints, prefix: `${prefix}/b` }));
    try {
      await a.set(["x"], "a");
      await b.set(["x"], "b");
      expect([(await a.get(["x"])).value, (await b.get(["x"])).value]).toEqual(["a", "b"]);
    } finally {
      await a.close();
      await b.close();
    }
  });
});

describeEtcd("a large commit", 1, (cluster) => {
  const open = async () =>
    await openKv(await etcdEngine({ endpoints: cluster().endpoints, prefix: newPrefix() }));

  it("is possible up to the limits, which kv.limits names", async () => {
    const kv = await open();
    try {
      expect(kv.limits).toMatchObject({ checks: 100, mutations: 1000 });
      const atomic = kv.atomic();
      for (let i = 0; i < 100; i++) atomic.check({ key: ["check", i], versionstamp: null });
      const value = "x".repeat(1000);
      for (let i = 0; i < 1000; i++) atomic.set(["row", i], value, { expireIn: 3_600_000 });
      const { ok } = await atomic.commit();
      expect(ok).toBe(true);
      let rows = 0;
      for await (const { value } of kv.list({ prefix: ["row"] })) {
        expect(value).toHaveLength(1000);
        rows++;
      }
      expect(rows).toBe(1000);
      const large = new Uint8Array(kv.limits.valueBytes - 100);
      await kv.set(["large"], large);
      expect((await kv.get<Uint8Array>(["large"])).value).toHaveLength(large.length);
    } finally {
      await kv.close();
    }
  });

  it("may depend on more keys than etcd can compare in one request", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const kvs = await Promise.all([1, 2].map(async () => openKv(await etcdEngine(options))));
    try {
      const addToAll = async (kv: (typeof kvs)[number]) => {
        for (let round = 0; round < 5; round++) {
          const atomic = kv.atomic();
          for (let i = 0; i < 400; i++) atomic.sum(["n", i], 1n);
          const [{ ok }] = await Promise.all([atomic.commit(), kv.set(["other", round], 1)]);
          expect(ok).toBe(true);
        }
      };
      await Promise.all(kvs.map(addToAll));
      let sums = 0;
      const stamps = new Set<string>();
      for await (const { value, versionstamp } of kvs[0]!.list({ prefix: ["n"] })) {
        expect(value).toEqual(new KvU64(10n));
        stamps.add(versionstamp);
        sums++;
      }
      expect([sums, stamps.size]).toEqual([400, 1]);
    } finally {
      for (const kv of kvs) await kv.close();
    }
  });

  it("is refused beyond them, before anything is sent", async () => {
    const kv = await open();
    try {
      const atomic = kv.atomic();
      for (let i = 0; i < 1001; i++) atomic.delete(["row", i]);
      await expect(atomic.commit()).rejects.toThrow(LimitExceededError);
      await expect(kv.set(["a"], new Uint8Array(kv.limits.valueBytes))).rejects.toThrow(
        LimitExceededError,
      );
    } finally {
      await kv.close();
    }
  });

  it("may be read in one call with many others, beyond 4 MiB", async () => {
    const kv = await open();
    try {
      const keys = Array.from({ length: 8 }, (_, i) => ["big", i]);
      for (const key of keys) await kv.set(key, new Uint8Array(1_000_000));
      const entries = await kv.getMany<Uint8Array[]>(keys);
      expect(entries.map(({ value }) => value?.length)).toEqual(keys.map(() => 1_000_000));
    } finally {
      await kv.close();
    }
  });
});

describeEtcd(
  "etcd without space",
  1,
  (cluster) => {
    it("refuses writes with a remedy, and still reads", async () => {
      const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
      const kv = await openKv(await etcdEngine(options));
      try {
        const fill = async () => {
          for (let i = 0; i < 100; i++) await kv.set(["fill", i], new Uint8Array(500_000));
        };
        await expect(fill()).rejects.toThrow(EtcdOutOfSpaceError);
        expect((await kv.get(["fill", 0])).versionstamp).not.toBeNull();
        await expect(kv.delete(["fill", 0])).rejects.toThrow(EtcdOutOfSpaceError);
        // A batch is not sent again in parts, of which each would be refused.
        const attempts = vi.spyOn(EtcdClient.prototype, "attempt");
        const sets = Array.from({ length: 50 }, (_, i) => kv.set(["more", i], i));
        const results = await Promise.allSettled(sets);
        expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["rejected"]));
        expect(attempts).toHaveBeenCalledTimes(1);
        attempts.mockRestore();
        const other = etcdEngine({ ...options, prefix: newPrefix() });
        await expect(other).rejects.toThrow(EtcdOutOfSpaceError);
      } finally {
        await kv.close();
      }
    });
  },
  { args: ["--quota-backend-bytes", "16777216"] },
);

describeEtcd(
  "a cluster with authentication",
  1,
  (cluster) => {
    it("refuses a wrong password, and accepts the right one after its token has expired", async () => {
      const { endpoints } = cluster();
      const call = async (path: string, body: object) => {
        const request = { method: "POST", body: JSON.stringify(body) };
        const response = await fetch(`${endpoints[0]}/v3/auth/${path}`, request);
        expect(await response.text()).not.toContain("error");
      };
      await call("user/add", { name: "root", password: "pass" });
      await call("role/add", { name: "root" });
      await call("user/grant", { user: "root", role: "root" });
      await call("enable", {});
      const options = { endpoints, prefix: newPrefix(), user: "root", deadline: 3000 };
      const { user: _, ...anonymous } = options;
      for (const wrong of [{ ...options, password: "wrong" }, anonymous]) {
        await expect(etcdEngine(wrong)).rejects.toThrow(EtcdAccessDeniedError);
      }
      const kv = await openKv(await etcdEngine({ ...options, password: "pass" }));
      try {
        await kv.set(["a"], 1);
        await new Promise((resolve) => setTimeout(resolve, 2500));
        await kv.atomic().sum(["n"], 1n).commit();
        expect((await kv.get(["a"])).value).toBe(1);
      } finally {
        await kv.close();
      }
    });
  },
  { args: ["--auth-token-ttl", "1"] },
);

const pem = (name: string) => readFileSync(new URL(`../server/tls/${name}.pem`, import.meta.url));
const pathOf = (name: string) =>
  fileURLToPath(new URL(`../server/tls/${name}.pem`, import.meta.url));

describeEtcd(
  "a cluster with TLS",
  1,
  (cluster) => {
    it("is used with its certificates only", async () => {
      const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
      const tls = { ca: pem("ca"), cert: pem("server"), key: pem("server-key") };
      const kv = await openKv(await etcdEngine({ ...options, tls }));
      try {
        await kv.set(["a"], 1);
        expect((await kv.get(["a"])).value).toBe(1);
      } finally {
        await kv.close();
      }
      const { ca, ...client } = tls;
      for (const wrong of [undefined, { ca }, client]) {
        const opening = etcdEngine({ ...options, tls: wrong, deadline: 500 });
        await expect(opening).rejects.toThrow(EngineUnavailableError);
      }
      const plain = options.endpoints.map((url) => url.replace("https:", "http:"));
      const opening = etcdEngine({ ...options, endpoints: plain, deadline: 500 });
      await expect(opening).rejects.toThrow(EngineUnavailableError);
    });
  },
  {
    protocol: "https",
    args: [
      ...["--cert-file", pathOf("server"), "--key-file", pathOf("server-key")],
      ...["--client-cert-auth", "--trusted-ca-file", pathOf("ca")],
    ],
  },
);
