import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AtomicOperation } from "../src/kv/atomic-operation.js";
import { openKv } from "../src/kv/open-kv.js";

const start = Date.UTC(2026, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an atomic operation", () => {
  it("is an instance of the exported class", async () => {
    const kv = await openKv();
    expect(kv.atomic()).toBeInstanceOf(AtomicOperation);
    await kv.close();
  });

  it("has its times counted from the commit on", async () => {
    const kv = await openKv();
    const operation = kv.atomic().set(["a"], 1, { expireIn: 150 });
    vi.setSystemTime(start + 1000);
    await operation.commit();
    expect(await kv.get(["a"])).toMatchObject({ value: 1, expireAt: start + 1150 });
    await kv.close();
  });

  it("that is committed twice enqueues its message twice", async () => {
    const kv = await openKv();
    const operation = kv.atomic().enqueue("message");
    await operation.commit();
    await operation.commit();
    const received: unknown[] = [];
    const both = new Promise<void>((resolve) => {
      void kv.listenQueue((message) => {
        if (received.push(message) === 2) resolve();
      });
    });
    await both;
    expect(received).toEqual(["message", "message"]);
    await kv.close();
  });
});

describe("getMany", () => {
  it("has entries that expire together both or neither", async () => {
    const kv = await openKv();
    await kv.atomic().set(["a"], 1, { expireIn: 1000 }).set(["b"], 1, { expireIn: 1000 }).commit();
    let time = start + 999;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => time++);
    const entries = await kv.getMany([["a"], ["b"]]);
    clock.mockRestore();
    expect(entries.map(({ value }) => value)).toEqual([1, 1]);
    await kv.close();
  });
});

describe("a watch", () => {
  it("keeps to the keys that it was given, whatever becomes of their bytes", async () => {
    const kv = await openKv(":memory:", { limits: { keys: 1 } });
    await kv.set([Uint8Array.of(1)], "one");
    await kv.set([Uint8Array.of(2)], "two");
    const part = Uint8Array.of(1);
    const reader = kv.watch<[string, null]>([[part], ["b"]]).getReader();
    part[0] = 2;
    const { value } = await reader.read();
    expect(value).toMatchObject([
      { key: [Uint8Array.of(1)], value: "one" },
      { key: ["b"], value: null },
    ]);
    await kv.close();
  });

  it("of no keys is refused", async () => {
    const kv = await openKv();
    expect(() => kv.watch([])).toThrow(expect.objectContaining({ code: "KW_OPTION_INVALID" }));
    await kv.close();
  });
});
