import { copyKv, encodeKey, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer, newTable, query } from "../server/shared-server.js";

const key = encodeKey(["a"]);

describeOnServer("a view", () => {
  it("ends if the server ends its transaction, and others can be opened", async () => {
    const table = newTable();
    const engine = await postgresEngine(table);
    try {
      const view = await engine.openView!();
      await view.get(key);
      const mine = `state = 'idle in transaction' AND query LIKE '%${table.prefix}%'`;
      await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${mine}`);
      for (let read = 0; read < 2; read++)
        await expect(view.get(key)).rejects.toMatchObject({ code: "KW_READ_VIEW_ENDED" });
      view.close();
      const next = await engine.openView!();
      expect(await next.get(key)).toBeUndefined();
      next.close();
    } finally {
      await engine.close();
    }
  });

  it("waits for a connection, and commits do not wait for views", async () => {
    const engine = await postgresEngine({ ...newTable(), maxConnections: 1 });
    try {
      const first = await engine.openView!();
      const opening = engine.openView!();
      const mutations = [{ type: "set", key, value: Uint8Array.of(1) }] as const;
      const [outcome] = await engine.commit([{ checks: [], mutations, sync: true }]);
      expect(outcome).toEqual(expect.any(String));
      expect(await first.get(key)).toBeUndefined();
      first.close();
      const second = await opening;
      expect((await second.get(key))?.value[0]).toBe(1);
      second.close();
    } finally {
      await engine.close();
    }
  });

  it("is the state of a copy while accounts transfer", async () => {
    const kv = await openKv(await postgresEngine(newTable()), { durability: "relaxed" });
    const target = await openKv();
    const accounts = 10;
    let isCopying = true;
    const transfer = async (seed: number) => {
      for (let n = seed; isCopying; n += 7) {
        const [from, to] = [
          ["accounts", n % accounts],
          ["accounts", (n * 3 + 1) % accounts],
        ];
        if (from[1] === to[1]) continue;
        const [a, b] = await kv.getMany<[number, number]>([from, to]);
        await kv
          .atomic()
          .check(a, b)
          .set(from, a.value! - 1)
          .set(to, b.value! + 1)
          .set(["transfers", seed, n], { from: from[1], to: to[1] })
          .commit();
      }
    };
    try {
      for (let n = 0; n < accounts; n++) await kv.set(["accounts", n], 100);
      for (let n = 0; n < 300; n++) await kv.set(["other", n], n);
      const transfers = [transfer(1), transfer(2), transfer(3)];
      await copyKv(kv, target, { verify: true });
      isCopying = false;
      await Promise.all(transfers);
      const expected = Array.from({ length: accounts }, () => 100);
      for await (const { value } of target.list<{ from: number; to: number }>({
        prefix: ["transfers"],
      })) {
        expected[value.from]!--;
        expected[value.to]!++;
      }
      const copied: number[] = [];
      for await (const { value } of target.list<number>({ prefix: ["accounts"] }))
        copied.push(value);
      expect(copied).toEqual(expected);
    } finally {
      isCopying = false;
      await kv.close();
      await target.close();
    }
  });
});
