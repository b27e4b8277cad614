import { type AtomicWrite, encodeKey, openKv } from "@keywright/core";
import pg from "pg";
import { expect, it, vi } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer, newTable, query } from "../server/shared-server.js";

/** All keys that begin with the part `r`. */
const range = { start: encodeKey(["r"]), end: encodeKey(["s"]) };

const set = (...key: readonly string[]): AtomicWrite => ({
  checks: [],
  mutations: [{ type: "set", key: encodeKey(key), value: Uint8Array.of(1) }],
  sync: true,
});

/** A write that is applied if no key of the range has changed since a versionstamp. */
const inRange = (versionstamp: string, ...key: readonly string[]): AtomicWrite => ({
  ...set(...key),
  rangeChecks: [{ range, versionstamp }],
});

describeOnServer("a range check", () => {
  it("holds after the database was opened again, and with the commits of others", async () => {
    const table = newTable();
    const first = await postgresEngine(table);
    const [since] = await first.commit([set("r", "a")]);
    await first.close();
    const [one, other] = [await postgresEngine(table), await postgresEngine(table)];
    try {
      expect(await one.commit([inRange(String(since), "x")])).toEqual([expect.any(String)]);
      await other.commit([set("r", "b")]);
      expect(await one.commit([inRange(String(since), "x")])).toEqual([null]);
    } finally {
      await one.close();
      await other.close();
    }
  });

  it("fails if the log lacks a batch after its versionstamp, and holds after the latest", async () => {
    const table = newTable();
    const engine = await postgresEngine(table);
    try {
      const [since, next, last] = [
        (await engine.commit([set("a")]))[0] as string,
        (await engine.commit([set("b")]))[0] as string,
        (await engine.commit([set("c")]))[0] as string,
      ];
      const failing = async (versionstamp: string) =>
        (await engine.commit([inRange(versionstamp, "x")]))[0] === null;
      const remove = async (versionstamp: string) =>
        await query(
          `DELETE FROM ${table.prefix} WHERE key = '\\x0002${versionstamp.slice(0, 16)}'`,
        );
      await remove(next);
      expect(await failing(since)).toBe(true);
      await remove(last);
      // Nothing has been committed after it.
      expect(await failing(last)).toBe(false);
      expect(await failing("0".repeat(20))).toBe(true);
    } finally {
      await engine.close();
    }
  });

  it("from the middle of a batch sees the later writes of the batch", async () => {
    const engine = await postgresEngine(newTable());
    try {
      const [a, , c] = await engine.commit([set("r", "a"), set("r", "b"), set("z")]);
      expect(await engine.commit([inRange(String(a), "x")])).toEqual([null]);
      expect(await engine.commit([inRange(String(c), "x")])).toEqual([expect.any(String)]);
      const [d] = await engine.commit([set("r", "d"), set("y")]);
      expect(await engine.commit([inRange(String(d), "x")])).toEqual([expect.any(String)]);
    } finally {
      await engine.close();
    }
  });

  it("sees a key that ends in the versionstamp of an earlier write of its group", async () => {
    const engine = await postgresEngine(newTable());
    const stamped: AtomicWrite = {
      checks: [],
      mutations: [
        {
          type: "set",
          key: encodeKey(["r", "log"]),
          value: Uint8Array.of(1),
          endsInVersionstamp: true,
        },
      ],
      sync: true,
    };
    try {
      const [since] = await engine.commit([set("a")]);
      expect(await engine.commit([stamped, inRange(String(since), "x")])).toEqual([
        expect.any(String),
        null,
      ]);
    } finally {
      await engine.close();
    }
  });

  it("finds one changed key in a batch of many with the same prefix", async () => {
    const engine = await postgresEngine(newTable());
    try {
      const [since] = await engine.commit([set("a")]);
      const names = Array.from({ length: 3000 }, (_, n) => `${n}`.padStart(4, "0"));
      await engine.commit([
        { ...set("a"), mutations: names.flatMap((name) => set("r", name, "x").mutations) },
      ]);
      const outcome = async (start: string, end: string) => {
        const only = { start: encodeKey(["r", start]), end: encodeKey(["r", end]) };
        const rangeChecks = [{ range: only, versionstamp: String(since) }];
        return (await engine.commit([{ ...set("x"), rangeChecks }]))[0];
      };
      expect(await outcome("1234", "1235")).toBe(null);
      expect(await outcome("2999x", "3")).toEqual(expect.any(String));
      expect(await outcome("2999", "3")).toBe(null);
    } finally {
      await engine.close();
    }
  });
});

describeOnServer("a view that begins with its first read", () => {
  it("takes one statement for both, and none if it is not read", async () => {
    // Each view waits until the one before has ended, and needs no new connection.
    const kv = await openKv(await postgresEngine({ ...newTable(), maxConnections: 1 }));
    await kv.set(["r", "a"], 1);
    const statements = vi.spyOn(pg.Client.prototype, "query");
    try {
      const open = async () => (await kv.openView({ atFirstRead: true }))!;
      (await open()).close();
      expect(statements).not.toHaveBeenCalled();
      const first = await open();
      await first.get(["r", "a"]);
      first.close();
      const sent = () => statements.mock.calls.filter(([text]) => `${text}` !== "COMMIT").length;
      const reads = {
        get: async (view: Awaited<ReturnType<typeof open>>) => (await view.get(["r", "a"])).value,
        getMany: async (view: Awaited<ReturnType<typeof open>>) =>
          (
            await view.getMany([
              ["r", "a"],
              ["r", "'"],
            ])
          ).map(({ value }) => value),
        list: async (view: Awaited<ReturnType<typeof open>>) => {
          const values = [];
          for await (const { value } of view.list({ prefix: ["r"] })) values.push(value);
          return values;
        },
      };
      const expected = { get: 1, getMany: [1, null], list: [1] };
      for (const name of ["get", "getMany", "list"] as const) {
        const view = await open();
        expect(view.versionstamp).toBe(undefined);
        statements.mockClear();
        expect(await reads[name](view)).toEqual(expected[name]);
        expect(sent()).toBe(1);
        expect(view.versionstamp).toMatch(/^[0-9a-f]{20}$/);
        expect(await reads[name](view)).toEqual(expected[name]);
        expect(sent()).toBe(2);
        view.close();
      }
    } finally {
      statements.mockRestore();
      await kv.close();
    }
  });

  it("waits for a connection: 64 transactions that need one end with two", async () => {
    const kv = await openKv(await postgresEngine({ ...newTable(), maxConnections: 2 }));
    try {
      const add = async (n: number): Promise<void> => {
        for (;;) {
          const view = (await kv.openView({ atFirstRead: true }))!;
          let count = 0;
          for await (const _ of view.list({ prefix: ["r"] })) count++;
          view.close();
          const atomic = kv.atomic().checkRange!({ prefix: ["r"] }, view.versionstamp!);
          if ((await atomic.set(["r", count], n).commit()).ok) return;
        }
      };
      await Promise.all(Array.from({ length: 64 }, (_, n) => add(n)));
      const values = [];
      for await (const { value } of kv.list<number>({ prefix: ["r"] })) values.push(value);
      expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, n) => n));
    } finally {
      await kv.close();
    }
  });
});
