import { KvU64 as DenoKvU64 } from "@deno/kv";
import { describe, expect, it } from "vitest";
import {
  DatabaseClosedError,
  DatabaseModeError,
  EngineUnavailableError,
  LimitExceededError,
  ReadOnlyError,
} from "../src/errors/core-errors.js";
import type { KvKey } from "../src/keys/key.js";
import type { KvMutation } from "../src/kv/atomic-operation.js";
import type { KvEntry } from "../src/kv/kv.js";
import type { OpenKvOptions } from "../src/kv/open/open-handle.js";
import { openKv } from "../src/kv/open-kv.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { withFolder } from "./temporary-folder.js";

type CompatKv = Awaited<ReturnType<typeof openKv>>;

async function withCompatKv(
  body: (kv: CompatKv) => Promise<void>,
  options: OpenKvOptions = {},
): Promise<void> {
  const kv = await openKv(":memory:", { ...options, compat: "deno" });
  try {
    await body(kv);
  } finally {
    await kv[Symbol.asyncDispose]();
  }
}

describe("an error of compat mode", () => {
  it("has the code and the fields of Keywright's own", async () => {
    await withCompatKv(async (kv) => {
      await kv.set(["a"], 1);
      const value = { code: "KW_VALUE_UNSUPPORTED", path: "value.f" };
      await expect(kv.set(["a"], { f: () => 1 })).rejects.toMatchObject(value);
      const size = { code: "KW_LIMIT_EXCEEDED", limit: "valueBytes", max: 65_536, actual: 65_537 };
      await expect(kv.set(["a"], new Uint8Array(65_537))).rejects.toMatchObject(size);
      const key = { code: "KW_KEY_INVALID", partIndex: 1 };
      await expect(kv.get(["a", null] as unknown as KvKey)).rejects.toMatchObject(key);
      const sum = { code: "KW_VALUE_NOT_U64", operation: "sum" };
      await expect(kv.atomic().sum(["a"], 1n).commit()).rejects.toMatchObject(sum);
      const check = { key: ["a"], versionstamp: "x" };
      const versionstamp = { code: "KW_VERSIONSTAMP_INVALID", versionstamp: "x" };
      await expect(kv.atomic().check(check).commit()).rejects.toMatchObject(versionstamp);
      const option = { code: "KW_OPTION_INVALID", option: "delay" };
      await expect(kv.enqueue(1, { delay: -1 })).rejects.toMatchObject(option);
      const limit = { code: "KW_SELECTOR_INVALID" };
      expect(() => kv.list({ prefix: [] }, { limit: 0 })).toThrow(expect.objectContaining(limit));
      await kv.close();
      await expect(kv.get(["a"])).rejects.toMatchObject({ code: "KW_DATABASE_CLOSED" });
    });
  });

  it("has Keywright's own for its cause, and shows no more than Deno's", async () => {
    await withCompatKv(async (kv) => {
      const error: unknown = await kv.getMany(Array(11).fill(["a"])).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).cause).toBeInstanceOf(LimitExceededError);
      expect(Object.keys(error as Error)).toEqual([]);
    });
  });
});

describe("the error after close()", () => {
  it("is that of Deno where there is one", async () => {
    const kv = await openKv(":memory:", { compat: "deno" });
    await kv.close();
    const error: Error = await kv.get(["a"]).catch((thrown) => thrown);
    const { Deno } = globalThis as { Deno?: { errors: { BadResource: new () => Error } } };
    if (Deno !== undefined) expect(error.constructor).toBe(Deno.errors.BadResource);
    expect(error).toMatchObject({ name: "BadResource", message: "Bad resource ID" });
    expect(error.cause).toBeInstanceOf(DatabaseClosedError);
    expect(Object.keys(error)).toEqual(["name"]);
  });
});

describe("compat mode", () => {
  it("is remembered by the database", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(`${folder}/deno`, { compat: "deno" });
      await kv.set(["a", 1, 1n], "kept");
      await kv.close();
      await expect(openKv(`${folder}/deno`)).rejects.toBeInstanceOf(DatabaseModeError);
      const again = await openKv(`${folder}/deno`, { compat: "deno" });
      expect((await again.get(["a", 1, 1n])).value).toBe("kept");
      await again.close();
      const plain = await openKv(`${folder}/plain`);
      await plain.close();
      const other = openKv(`${folder}/plain`, { compat: "deno" });
      await expect(other).rejects.toBeInstanceOf(DatabaseModeError);
    });
  });

  it("connects to a URL if there is an access token", async () => {
    const { DENO_KV_ACCESS_TOKEN: before } = process.env;
    process.env.DENO_KV_ACCESS_TOKEN = "token";
    try {
      const opening = openKv("http://127.0.0.1:1/x", { compat: "deno" });
      await expect(opening).rejects.toBeInstanceOf(EngineUnavailableError);
    } finally {
      if (before === undefined) delete process.env.DENO_KV_ACCESS_TOKEN;
      else process.env.DENO_KV_ACCESS_TOKEN = before;
    }
  });

  it("takes limits in place of Deno's", async () => {
    await withCompatKv(
      async (kv) => {
        expect(kv.limits).toMatchObject({ checks: 1, keys: 20, mutations: 1000 });
        expect(await kv.getMany(Array(20).fill(["a"]))).toHaveLength(20);
        const check = { key: ["a"], versionstamp: null };
        const commit = kv.atomic().check(check, check).commit();
        await expect(commit).rejects.toThrow("Too many checks (max 1)");
      },
      { limits: { checks: 1, keys: 20 } },
    );
  });

  it("delivers a KvU64 of any class as a plain object", async () => {
    await withCompatKv(async (kv) => {
      const messages: unknown[] = [];
      const arrived = new Promise<void>((resolve) => {
        void kv.listenQueue((message) => {
          if (messages.push(message) === 2) resolve();
        });
      });
      await kv.enqueue(new KvU64(7n));
      await kv.enqueue(new DenoKvU64(7n));
      await arrived;
      expect(messages).toEqual([{ value: 7n }, { value: 7n }]);
      expect(messages.map((message) => Object.getPrototypeOf(message))).toEqual(
        Array(2).fill(Object.prototype),
      );
    });
  });

  it("refuses writes where it is opened for reading only", async () => {
    await withFolder(async (folder) => {
      const writer = await openKv(folder, { compat: "deno" });
      await writer.set(["a"], 1);
      const reader = await openKv(folder, { compat: "deno", readOnly: true });
      expect((await reader.get(["a"])).value).toBe(1);
      await expect(reader.set(["a"], 2)).rejects.toBeInstanceOf(ReadOnlyError);
      await expect(reader.enqueue(1)).rejects.toBeInstanceOf(ReadOnlyError);
      await reader.close();
      await writer.close();
    });
  });

  it("tells when an entry expires, where nobody looks for it", async () => {
    await withCompatKv(async (kv) => {
      const before = Date.now();
      await kv.set(["a"], 1, { expireIn: 60_000 });
      const entry = (await kv.get(["a"])) as KvEntry<unknown>;
      const { value } = await kv.list({ prefix: [] }).next();
      for (const each of [entry, value as KvEntry<unknown>]) {
        expect(Object.keys(each)).toEqual(["key", "value", "versionstamp"]);
        expect(each.expireAt).toBeGreaterThanOrEqual(before + 60_000);
      }
    });
  });

  it("answers calls of next that overlap in their order", async () => {
    await withCompatKv(async (kv) => {
      for (let n = 0; n < 5; n++) await kv.set(["n", n], n);
      const list = kv.list<number>({ prefix: ["n"] }, { batchSize: 2 });
      const results = await Promise.all(Array.from({ length: 6 }, () => list.next()));
      const values = results.map(({ value }) => value?.value);
      expect(values).toEqual([0, 1, 2, 3, 4, undefined]);
    });
  });

  it("commits what an operation had when commit was called", async () => {
    await withCompatKv(async (kv) => {
      const key = ["a"];
      const atomic = kv.atomic().set(key, 1);
      const commit = atomic.commit();
      key[0] = "b";
      atomic.set(["c"], 1);
      await commit;
      expect((await kv.get(["a"])).value).toBe(1);
      expect((await kv.get(["c"])).value).toBeNull();
    });
  });

  it("shows none of the database's own entries, whatever the cursor", async () => {
    await withCompatKv(async (kv) => {
      await kv.set(["a"], 1, { expireIn: 60_000 });
      await kv.enqueue("message", { delay: 60_000 });
      for (const cursor of ["AAM=", "AAMA", "AAQA", "AA=="]) {
        for (const reverse of [false, true]) {
          const list = kv.list({ prefix: [] }, { cursor, reverse });
          const { value } = await list.next();
          expect(value?.key).toEqual(reverse ? undefined : ["a"]);
        }
      }
    });
  });
});

describe("a sum of numbers", () => {
  it("counts every one of many that are made at the same time", async () => {
    await withCompatKv(async (kv) => {
      const add = { type: "sum", key: ["n"], value: 1 } as unknown as KvMutation;
      const writers = Array.from({ length: 20 }, () => kv.atomic().mutate(add, add).commit());
      expect((await Promise.all(writers)).every(({ ok }) => ok)).toBe(true);
      expect((await kv.get(["n"])).value).toBe(40);
    });
  });

  it("commits nothing if a check of the operation fails", async () => {
    await withCompatKv(async (kv) => {
      await kv.set(["n"], 5);
      const add = { type: "sum", key: ["n"], value: 1 } as unknown as KvMutation;
      const held = kv.atomic().check({ key: ["other"], versionstamp: "0".repeat(20) });
      expect(await held.mutate(add).commit()).toEqual({ ok: false });
      expect((await kv.get(["n"])).value).toBe(5);
    });
  });
});

it("two unreadable blobs of one operation leave no rejection behind", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", note);
  try {
    await withCompatKv(async (kv) => {
      const unreadable = () => {
        const blob = new Blob(["a"]);
        blob.arrayBuffer = () => Promise.reject(new Error("it cannot be read"));
        return { blob };
      };
      const operation = kv.atomic().set(["a"], unreadable()).enqueue(unreadable());
      await expect(operation.commit()).rejects.toThrow("it cannot be read");
      await new Promise((resolve) => setImmediate(resolve));
    });
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});
