import {
  AmbiguousCommitError,
  type EmbeddedKv,
  encodeKey,
  KvU64,
  NotU64Error,
  openKv,
  type StoredMutation,
} from "@keywright/core";
import { expect, inject, it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { type Loss, LossyProxy } from "../server/lossy-proxy.js";
import { describeOnServer, newTable, query } from "../server/shared-server.js";

interface Table {
  /** Connects through the proxy. */
  readonly options: ReturnType<typeof newTable>;
  readonly proxy: LossyProxy;
}

async function withProxy(test: (table: Table) => Promise<void>): Promise<void> {
  const proxy = await LossyProxy.start(inject("postgresUrl")!);
  try {
    await test({ options: { ...newTable(), connectionString: proxy.url }, proxy });
  } finally {
    await proxy.stop();
  }
}

async function withKv(
  deadline: number,
  test: (kv: EmbeddedKv, table: Table) => Promise<void>,
): Promise<void> {
  await withProxy(async (table) => {
    const kv = await openKv(await postgresEngine({ ...table.options, deadline }));
    try {
      await test(kv, table);
    } finally {
      await kv.close();
    }
  });
}

/** The first attempts of a commit. The last one is answered. */
const attempts: readonly (readonly Loss[])[] = [
  ["reply"],
  ["reply", "reply", "reply"],
  ["request"],
  ["request", "reply", "request", "reply"],
];

describeOnServer("a commit whose reply is lost", () => {
  it("is applied once, and resolves with the versionstamp of its only application", async () => {
    await withKv(10_000, async (kv, { proxy }) => {
      for (const [round, losses] of attempts.entries()) {
        const key = ["row", round];
        proxy.lose(losses);
        const created = await kv.atomic().check({ key, versionstamp: null }).set(key, 1).commit();
        expect(proxy.hasLost).toBe(true);
        const { versionstamp } = await kv.get(key);
        expect(created).toEqual({ ok: true, versionstamp });
        proxy.lose(losses);
        const added = await kv.atomic().sum(["n"], 1n).commit();
        expect(proxy.hasLost).toBe(true);
        const counter = await kv.get(["n"]);
        expect(counter.value).toEqual(new KvU64(BigInt(round + 1)));
        expect(added).toEqual({ ok: true, versionstamp: counter.versionstamp });
        proxy.lose(losses);
        const logged = await kv.set(["log", kv.commitVersionstamp()], round);
        expect(proxy.hasLost).toBe(true);
        expect((await kv.get(["log", logged.versionstamp])).value).toBe(round);
      }
      let logged = 0;
      for await (const _ of kv.list({ prefix: ["log"] })) logged++;
      expect(logged).toBe(attempts.length);
    });
  });

  it("resolves as its checks did at first, each commit of the batch by itself", async () => {
    await withProxy(async ({ options, proxy }) => {
      const [engine, other] = await Promise.all([
        postgresEngine(options),
        postgresEngine({ ...newTable(), prefix: options.prefix }),
      ]);
      const key = (name: string) => encodeKey([name]);
      const set = (name: string): StoredMutation => ({
        type: "set",
        key: key(name),
        value: Uint8Array.of(1),
      });
      const write = (mutation: StoredMutation, check?: string, version: string | null = null) => ({
        checks: check === undefined ? [] : [{ key: key(check), versionstamp: version }],
        mutations: [mutation],
        sync: true,
      });
      const sum: StoredMutation = { type: "sum", key: key("text"), operand: 1n };
      try {
        const [stamp] = (await engine.commit([write(set("old"))])) as string[];
        await engine.commit([write(set("text"))]);
        // Before the second attempt, another process makes all that failed possible.
        proxy.lose(["reply"], async () => {
          const deletions = ["old", "text"].map((name) => ({ type: "delete", key: key(name) }));
          await other.commit(deletions.map((each) => write(each as StoredMutation)));
        });
        const outcomes = await engine.commit([
          write(set("new"), "new"),
          write(set("x"), "old"),
          write(set("y"), "old", stamp),
          write(sum),
          write(set("free")),
        ]);
        expect(proxy.hasLost).toBe(true);
        const names = ["new", "x", "y", "text", "free"];
        const [created, x, y, text, free] = await engine.getMany(names.map(key));
        expect([x, text]).toEqual([undefined, undefined]);
        expect(outcomes).toEqual([
          created!.versionstamp,
          null,
          y!.versionstamp,
          expect.any(NotU64Error),
          free!.versionstamp,
        ]);
      } finally {
        await engine.close();
        await other.close();
      }
    });
  });

  it("is refused if all of its batch was, and nothing is applied", async () => {
    await withKv(10_000, async (kv, { proxy }) => {
      await kv.set(["old"], 1);
      proxy.lose(["reply", "request", "reply"]);
      const check = { key: ["old"], versionstamp: null };
      expect(await kv.atomic().check(check).set(["new"], 1).commit()).toEqual({ ok: false });
      expect(proxy.hasLost).toBe(true);
      expect((await kv.get(["new"])).versionstamp).toBeNull();
    });
  });

  it("is not applied again, however late its first request arrives", async () => {
    await withKv(10_000, async (kv, { proxy }) => {
      proxy.lose(["late request"]);
      const { versionstamp } = (await kv.atomic().sum(["n"], 1n).commit()) as {
        versionstamp: string;
      };
      await kv.set(["next"], 1);
      await proxy.deliver();
      expect(await kv.get(["n"])).toMatchObject({ value: new KvU64(1n), versionstamp });
    });
  });

  it("rejects when the time is over, and watches report it if it was applied", async () => {
    await withKv(3000, async (kv, { options, proxy }) => {
      const direct = { ...newTable(), prefix: options.prefix };
      const other = await openKv(await postgresEngine(direct));
      try {
        await kv.atomic().sum(["n"], 1n).commit();
        proxy.beSilent(true);
        const ambiguous = kv.atomic().sum(["n"], 1n).set(["a"], 1).commit();
        await expect(ambiguous).rejects.toThrow(AmbiguousCommitError);
        expect((await other.get(["a"])).value).toBe(1);
        const watch = kv.watchRange([{ prefix: [] }]).getReader();
        proxy.beSilent(false);
        const { versionstamp } = await kv.set(["b"], 1);
        const reported: unknown[] = [];
        while (!reported.includes("b")) reported.push(...(await watch.read()).value!.keys.flat());
        expect(reported).toContain("a");
        expect((await kv.get(["a"])).versionstamp! < versionstamp).toBe(true);
        await kv.atomic().sum(["n"], 1n).commit();
        expect((await kv.get(["n"])).value).toEqual(new KvU64(3n));
      } finally {
        await other.close();
      }
    });
  });

  it("leaves an id, which later batches remove after ten minutes", async () => {
    const table = newTable();
    const kv = await openKv(await postgresEngine(table));
    const ids = async () => {
      const where = "key >= '\\x0001' AND key < '\\x0003'";
      const text = `SELECT count(*)::int4 AS ids FROM ${table.prefix} WHERE ${where}`;
      return (await query(text))[0]!["ids"];
    };
    try {
      for (let i = 0; i < 10; i++) await kv.set(["a"], i);
      const before = (await ids()) as number;
      expect(before).toBeGreaterThanOrEqual(20);
      await query(`UPDATE ${table.prefix} SET expires_at = expires_at - 11 * 60000
        WHERE key >= '\\x0001' AND key < '\\x0003'`);
      const own = 64;
      for (let i = 0; i < own; i++) await kv.set(["b"], i);
      // All that was old is gone, and what was written since is kept.
      const left = `SELECT count(*)::int4 AS old FROM ${table.prefix}
        WHERE key >= '\\x0001' AND key < '\\x0003' AND expires_at < extract(epoch FROM now()) * 1000`;
      expect((await query(left))[0]!["old"]).toBe(0);
      expect(await ids()).toBe(2 * own);
      expect((await kv.get(["a"])).value).toBe(9);
    } finally {
      await kv.close();
    }
  });
});
