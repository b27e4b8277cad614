import { openKv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel, hasMany } from "@keywright/orm";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";
import { EtcdClient } from "../../src/client/etcd-client.js";
import type { EtcdCalls } from "../../src/client/etcd-messages.js";
import { EtcdEngine } from "../../src/etcd-engine.js";
import { KeySpace } from "../../src/record/key-space.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

/**
 * Counts the requests, without those that check the member of a watch. It waits for each of them as
 * long as the test runs: a client repeats a request if the member does not answer within a second.
 */
class CountingClient extends EtcdClient {
  requests = 0;

  override async attempt<Name extends keyof EtcdCalls>(
    name: Name,
    request: EtcdCalls[Name][0],
    time: number,
  ): Promise<EtcdCalls[Name][1]> {
    if (!name.startsWith("KV.")) return await super.attempt(name, request, time);
    this.requests++;
    return await super.attempt(name, request, 600_000);
  }
}

describeEtcd("the requests to etcd", 1, (cluster) => {
  // On a slow machine, heartbeats, a sweep and the age of catalogs would add requests.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "performance"] });
  });
  afterEach(() => void vi.useRealTimers());

  const User = defineModel({
    name: "users",
    schema: z.object({ id: z.int(), email: z.string(), city: z.string() }),
    primaryKey: "id",
    indexes: { byEmail: { key: "email", unique: true }, byCity: { key: "city" } },
    relations: { posts: hasMany("posts", "authorId") },
  });
  const Post = defineModel({
    name: "posts",
    schema: z.object({ id: z.int(), authorId: z.int() }),
    primaryKey: "id",
    indexes: { byAuthor: { key: "authorId" } },
    relations: { author: belongsTo("users", "authorId") },
  });

  it("are few for each call of the ORM", async () => {
    const client = new CountingClient({ endpoints: cluster().endpoints, timeout: 10_000 });
    const limits = { maxTxnOps: 128, maxRequestBytes: 1_572_864 };
    const engine = new EtcdEngine(client, new KeySpace(newPrefix()), limits);
    const kv = await openKv(engine);
    const counts: Record<string, number> = {};
    /** Counts the least requests of several calls: the first one takes more. */
    const count = async (name: string, call: (i: number) => Promise<unknown>) => {
      for (let i = 0; i < 4; i++) {
        const before = client.requests;
        await call(i);
        counts[name] = Math.min(counts[name] ?? Infinity, client.requests - before);
      }
    };
    try {
      const { users, posts, transaction } = await createDatabase({
        kv,
        models: { users: User, posts: Post },
      });
      const data = Array.from({ length: 200 }, (_, id) => ({
        id,
        email: `u${id}@example.com`,
        city: id % 2 ? "Berlin" : "Paris",
      }));
      await users.createMany({ data });
      for (const id of [1, 2, 3, 4]) await posts.create({ data: { id, authorId: 1 } });
      const id = 1000;
      await count("create", (i) =>
        users.create({ data: { id: 1000 + i, email: `${i}`, city: "Rome" } }),
      );
      await count("update", (i) => users.update({ where: { id }, data: { city: `Oslo ${i}` } }));
      await count("findUnique", () => users.findUnique({ where: { id } }));
      await count("findUnique by a unique index", () =>
        users.findUnique({ where: { email: "1" } }),
      );
      await count("findMany of 100 rows by an index", () =>
        users.findMany({ where: { city: "Berlin" }, take: 100 }),
      );
      await count("findMany of 100 rows by primary key", () =>
        users.findMany({ orderBy: { id: "asc" }, take: 100 }),
      );
      await count("findUnique with include of many", () =>
        users.findUnique({ where: { id: 1 }, include: { posts: true } }),
      );
      await count("findUnique with include of one", () =>
        posts.findUnique({ where: { id: 1 }, include: { author: true } }),
      );
      await count("delete", (i) => posts.delete({ where: { id: 1 + i } }));
      await count("delete of a row that others may refer to", (i) =>
        users.delete({ where: { id: 100 + i } }),
      );
      await count("a transaction of 2 reads and an update", () =>
        transaction(async (tx) => {
          const { city } = await tx.users.findUniqueOrThrow({ where: { id } });
          await tx.users.findUniqueOrThrow({ where: { id: 5 } });
          await tx.users.update({ where: { id }, data: { city: `${city}!` } });
        }),
      );
      await count("a transaction that lists and creates", (i) =>
        transaction(async (tx) => {
          const { items } = await tx.users.findMany({ where: { city: "Rome" }, take: 10 });
          await tx.users.create({
            data: { id: 2000 + i, email: `${items.length} ${i}`, city: "Bern" },
          });
        }),
      );
      expect(counts).toEqual({
        create: 1,
        update: 2,
        findUnique: 1,
        "findUnique by a unique index": 2,
        "findMany of 100 rows by an index": 2,
        "findMany of 100 rows by primary key": 1,
        "findUnique with include of many": 3,
        "findUnique with include of one": 2,
        delete: 2,
        "delete of a row that others may refer to": 4,
        "a transaction of 2 reads and an update": 3,
        "a transaction that lists and creates": 4,
      });
    } finally {
      await kv.close();
    }
  });

  it("are one for a commit that checks ranges, and more only after commits of other processes", async () => {
    const client = new CountingClient({ endpoints: cluster().endpoints, timeout: 10_000 });
    const limits = { maxTxnOps: 128, maxRequestBytes: 1_572_864 };
    const keys = new KeySpace(newPrefix());
    const kv = await openKv(new EtcdEngine(client, keys, limits));
    const otherClient = new EtcdClient({ endpoints: cluster().endpoints, timeout: 10_000 });
    const other = await openKv(new EtcdEngine(otherClient, keys, limits));
    try {
      await kv.set(["a"], 1);
      const requests = async (change: () => Promise<unknown>, ok = true) => {
        using view = (await kv.openView({ atFirstRead: true }))!;
        const begin = client.requests;
        await view.getMany([
          ["n", 1],
          ["n", 2],
        ]);
        expect(client.requests - begin).toBe(1);
        await change();
        const before = client.requests;
        const operation = kv.atomic().checkRange!({ prefix: ["n"] }, view.versionstamp!);
        expect((await operation.set(["n", 1], 1).commit()).ok).toBe(ok);
        return client.requests - before;
      };
      expect(await requests(async () => undefined)).toBe(1);
      expect(await requests(() => kv.set(["a"], 2))).toBe(1);
      expect(await requests(() => kv.delete(["n", 1]), false)).toBe(1);
      // The comparison, the reservation, two reads at once, and the batch.
      expect(await requests(() => other.set(["a"], 3))).toBe(5);
      expect(await requests(() => other.set(["n", 1], 1), false)).toBe(5);
      // The keys of the range are compared, and the one that is missing has not expired.
      expect(await requests(() => other.delete(["n", 1]), false)).toBe(8);
    } finally {
      await kv.close();
      await other.close();
    }
  });

  it("are one for each 64 keys that are read one by one in the same turn", async () => {
    const client = new CountingClient({ endpoints: cluster().endpoints, timeout: 10_000 });
    const limits = { maxTxnOps: 128, maxRequestBytes: 1_572_864 };
    const kv = await openKv(new EtcdEngine(client, new KeySpace(newPrefix()), limits));
    try {
      for (let n = 0; n < 50; n++) await kv.set(["n", n], n);
      const read = async (count: number) => {
        const before = client.requests;
        const keys = Array.from({ length: count }, (_, n) => ["n", n % 64] as const);
        const entries = await Promise.all(keys.map((key) => kv.get(key)));
        return { values: entries.map(({ value }) => value), requests: client.requests - before };
      };
      for (const [count, requests] of [
        [1, 1],
        [64, 1],
        [65, 2],
        [200, 4],
      ] as const) {
        const values = Array.from({ length: count }, (_, n) => (n % 64 < 50 ? n % 64 : null));
        expect(await read(count)).toEqual({ values, requests });
      }
    } finally {
      await kv.close();
    }
  });

  it("is one for a thousand commits at the same time, of which each has its own outcome", async () => {
    const client = new CountingClient({ endpoints: cluster().endpoints, timeout: 10_000 });
    const limits = { maxTxnOps: 128, maxRequestBytes: 1_572_864 };
    const kv = await openKv(new EtcdEngine(client, new KeySpace(newPrefix()), limits));
    try {
      const create = (i: number) =>
        kv
          .atomic()
          .check({ key: ["row", i], versionstamp: null })
          .set(["row", i], i)
          .commit();
      for (let i = 0; i < 1000; i += 300) await create(i);
      const before = client.requests;
      const results = await Promise.all(Array.from({ length: 1000 }, (_, i) => create(i)));
      expect(client.requests - before).toBe(1);
      expect(results.map(({ ok }) => ok)).toEqual(results.map((_, i) => i % 300 !== 0));
      for (const i of [1, 299, 301, 999]) {
        expect(await kv.get(["row", i])).toMatchObject({ value: i, ...version(results[i]!) });
      }
    } finally {
      await kv.close();
    }
  });
});

const version = (result: { ok: boolean; versionstamp?: string }) => ({
  versionstamp: result.versionstamp,
});
