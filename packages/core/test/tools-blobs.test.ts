import { Buffer } from "node:buffer";
import { openKv as openDenoKv } from "@deno/kv";
import { describe, expect, it, vi } from "vitest";
import { type Kv, type KvLike, openKv } from "../src/index.js";
import { BlobAbandonedError, BlobDamagedError, blobs, toolboxBlobs } from "../src/tools.js";

/** Milliseconds. It only ends what hangs. */
const patience = 60_000;

/** Bytes that differ from chunk to chunk. */
function bytesOf(length: number, seed = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7 + seed) & 0xff);
}

/** `toEqual` takes minutes for arrays of this size. */
function expectSame(found: Uint8Array | ArrayBuffer | undefined, expected: Uint8Array): void {
  expect(found).toBeDefined();
  expect(Buffer.compare(Buffer.from(found as Uint8Array), expected)).toBe(0);
}

async function readAll(stream: ReadableStream<Uint8Array> | undefined): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function countOf(kv: KvLike): Promise<number> {
  let entries = 0;
  for await (const _ of kv.list({ prefix: [] })) entries++;
  return entries;
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const sizes = [0, 1, 59_999, 60_000, 60_001, 720_000, 720_001, 2_000_000];

describe.each([
  ["memory", async () => await openKv()],
  ["memory in compat mode", async () => await openKv(":memory:", { compat: "deno" })],
  ["Deno KV", async () => (await openDenoKv(":memory:")) as unknown as KvLike],
])("blobs on %s", (_name, open) => {
  it("returns what was stored, and leaves nothing behind", async () => {
    const kv = await open();
    const files = blobs(kv);
    for (const [i, size] of [...sizes, ...sizes.toReversed()].entries()) {
      const bytes = bytesOf(size, i);
      const info = await files.set(["a", 1], i % 2 === 0 ? bytes : inPieces(bytes, 7001));
      expect(info).toMatchObject({ size, type: "" });
      expectSame(await files.get(["a", 1]), bytes);
      const found = await files.stream(["a", 1]);
      expectSame(await readAll(found?.stream), bytes);
      expect(await countOf(kv)).toBe(1 + Math.ceil(size / 60_000));
    }
    expect(await files.delete(["a", 1])).toBe(true);
    expect(await files.delete(["a", 1])).toBe(false);
    expect(await files.get(["a", 1])).toBeUndefined();
    expect(await files.stream(["a", 1])).toBeUndefined();
    expect(await countOf(kv)).toBe(0);
    await kv.close();
  });

  it("returns ranges", async () => {
    const kv = await open();
    const files = blobs(kv);
    const bytes = bytesOf(200_000);
    await files.set(["a"], new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "image/png" }));
    const edges = [0, 1, 59_999, 60_000, 60_001, 120_000, 199_999, 200_000, 300_000];
    for (const start of edges)
      for (const end of edges)
        expectSame(
          await files.get(["a"], { start, end }),
          bytes.subarray(start, Math.max(start, end)),
        );
    expect(await files.info(["a"])).toMatchObject({ size: 200_000, type: "image/png" });
    await expect(files.get(["a"], { start: -1 })).rejects.toMatchObject({ option: "start" });
    await kv.close();
  });
});

describe("blobs", () => {
  it.each([
    ["other arrays", new Uint16Array([1, 2000])],
    ["numbers", [1, 2, 3]],
    ["a stream of buffers", [new ArrayBuffer(5)]],
    ["a stream of other arrays", [new Uint16Array([1, 2000])]],
    ["a text", "abc"],
    ["null", null],
  ])("refuses %s instead of bytes, and keeps the old blob", async (_name, data) => {
    await using kv = await openKv();
    const files = blobs(kv);
    await files.set(["a"], bytesOf(10));
    await expect(files.set(["a"], data as never)).rejects.toMatchObject({ option: "data" });
    expect(await files.get(["a"])).toEqual(bytesOf(10));
  });

  it.each([0, -1, Number.NaN])(
    "refuses to store a blob that expires in %d ms",
    async (expireIn) => {
      await using kv = await openKv();
      const set = blobs(kv).set(["a"], bytesOf(1_000_000), { expireIn });
      await expect(set).rejects.toMatchObject({ option: "expireIn" });
      expect(await countOf(kv)).toBe(0);
    },
  );

  it("leaves nothing behind if the key is not valid", async () => {
    await using kv = await openKv();
    const set = blobs(kv).set([undefined as never], bytesOf(2_000_000));
    await expect(set).rejects.toMatchObject({ code: "KW_KEY_INVALID" });
    expect(await countOf(kv)).toBe(0);
  });

  it("stops a write whose source does not answer", async () => {
    await using kv = await openKv();
    const stopped = new AbortController();
    async function* standing() {
      yield bytesOf(2_000_000);
      queueMicrotask(() => stopped.abort(new Error("stopped")));
      await new Promise(() => undefined);
    }
    const { signal } = stopped;
    await expect(blobs(kv).set(["a"], standing(), { signal })).rejects.toThrow("stopped");
    expect(await countOf(kv)).toBe(0);
    const again = blobs(kv).set(["a"], standing(), { signal });
    await expect(again).rejects.toThrow("stopped");
  });

  it("keeps the first chunks of a slow source until the blob expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      await using kv = await openKv();
      const files = blobs(kv);
      const begin = Date.now();
      const bytes = bytesOf(4_000_000);
      async function* slowly() {
        for (let at = 0; at < bytes.length; at += 500_000) {
          yield bytes.subarray(at, at + 500_000);
          vi.setSystemTime(Date.now() + 1_200_000);
        }
      }
      await files.set(["a"], slowly(), { expireIn: 60_000 });
      expect(Date.now() - begin).toBeGreaterThan(2 * 3_600_000);
      vi.setSystemTime(Date.now() + 59_000);
      expectSame(await files.get(["a"]), bytes);
      vi.setSystemTime(Date.now() + 2000);
      expect(await files.get(["a"])).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it("returns the new blob if Deno KV has deleted the old one during the read", async () => {
    const kv = (await openDenoKv(":memory:")) as unknown as Kv;
    const files = blobs(kv);
    await files.set(["a"], bytesOf(2_000_000, 1));
    const getMany = vi.spyOn(kv, "getMany");
    getMany.mockImplementationOnce(async (keys) => {
      await files.set(["a"], bytesOf(1_000_000, 2));
      return await kv.getMany(keys);
    });
    expectSame(await files.get(["a"]), bytesOf(1_000_000, 2));
    await kv.close();
  });

  it("deletes large blobs with the longest keys of Deno KV", async () => {
    const kv = (await openDenoKv(":memory:")) as unknown as KvLike;
    const files = blobs(kv, ["p".repeat(1900)]);
    await files.set(["a"], bytesOf(30_600_000));
    expect(await files.delete(["a"])).toBe(true);
    expect(await countOf(kv)).toBe(0);
    await kv.close();
  });

  it("keeps the old blob until the last byte of the new one is written", async () => {
    await using kv = await openKv();
    const files = blobs(kv);
    const before = bytesOf(1_000_000, 1);
    await files.set(["a"], before);
    const reading = await files.stream(["a"]);
    async function* slowly() {
      for await (const piece of inPieces(bytesOf(1_500_000, 2), 100_000)) {
        expectSame(await files.get(["a"]), before);
        yield piece;
      }
    }
    await files.set(["a"], slowly());
    expectSame(await files.get(["a"]), bytesOf(1_500_000, 2));
    // A stream that was opened before has the old state.
    expectSame(await readAll(reading?.stream), before);
  });

  it("keeps the old blob if the source fails or the write is stopped", async () => {
    await using kv = await openKv();
    const files = blobs(kv);
    await files.set(["a"], bytesOf(10));
    async function* failing() {
      yield bytesOf(2_000_000);
      throw new Error("no more");
    }
    await expect(files.set(["a"], failing())).rejects.toThrow("no more");
    const stopped = new AbortController();
    async function* stopping() {
      yield bytesOf(2_000_000);
      stopped.abort(new Error("stopped"));
      yield bytesOf(1);
    }
    const { signal } = stopped;
    await expect(files.set(["a"], stopping(), { signal })).rejects.toThrow("stopped");
    expect(await files.get(["a"])).toEqual(bytesOf(10));
    expect(await countOf(kv)).toBe(2);
  });

  it("has one of the blobs that are written at the same time", async () => {
    await using kv = await openKv();
    const files = blobs(kv);
    await Promise.all([1, 2, 3, 4, 5].map((seed) => files.set(["a"], bytesOf(900_000, seed))));
    const found = await files.get(["a"]);
    // The first byte is the seed.
    const seed = found![0]!;
    expectSame(found, bytesOf(900_000, seed));
    expect(await countOf(kv)).toBe(16);
  });

  it("cleans up what a stopped process has left, and refuses to go on with it", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      await using kv = await openKv();
      const files = blobs(kv);
      let goOn: (() => void) | undefined;
      async function* standing() {
        yield bytesOf(2_000_000);
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        yield bytesOf(10);
      }
      const write = files.set(["a"], standing());
      await vi.waitFor(() => expect(goOn).toBeDefined(), patience);
      expect(await files.clean()).toBe(0);
      expect(await countOf(kv)).toBeGreaterThan(20);
      vi.setSystemTime(Date.now() + 3_600_001);
      expect(await files.clean()).toBe(1);
      expect(await countOf(kv)).toBe(0);
      goOn!();
      await expect(write).rejects.toBeInstanceOf(BlobAbandonedError);
      expect(await files.get(["a"])).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it("reports parts that are missing or changed", async () => {
    await using kv = await openKv();
    const files = blobs(kv);
    await files.set(["a"], bytesOf(150_000));
    const chunks: (readonly unknown[])[] = [];
    for await (const { key } of kv.list({ prefix: ["blobs", "chunk"] })) chunks.push(key);
    const second = chunks[1] as string[];
    const { value } = await kv.get<Uint8Array>(second);
    value![7]! ^= 1;
    await kv.set(second, value);
    await expect(files.get(["a"])).rejects.toMatchObject({ offset: 60_000 });
    expectSame(await files.get(["a"], { end: 60_000 }), bytesOf(60_000));
    await kv.delete(second);
    const found = await files.stream(["a"], { start: 70_000 });
    await expect(new Response(found?.stream).arrayBuffer()).rejects.toBeInstanceOf(
      BlobDamagedError,
    );
  });

  it("lists blobs, and ends those that expire", async () => {
    await using kv = await openKv();
    const files = blobs(kv, ["files"]);
    await files.set(["ada", "b"], bytesOf(1), { type: "text/plain" });
    await files.set(["ada", "a"], bytesOf(100_000), { expireIn: 2000 });
    await files.set(["bob"], bytesOf(2));
    const listed = async (prefix?: string[]) => {
      const found: unknown[] = [];
      for await (const { key, size, type } of files.list(prefix)) found.push([key, size, type]);
      return found;
    };
    expect(await listed(["ada"])).toEqual([
      [["ada", "a"], 100_000, ""],
      [["ada", "b"], 1, "text/plain"],
    ]);
    const isGone = async () => expect(await files.get(["ada", "a"])).toBeUndefined();
    await vi.waitFor(isGone, patience);
    expect(await listed()).toEqual([
      [["ada", "b"], 1, "text/plain"],
      [["bob"], 2, ""],
    ]);
  });

  it("reads what early versions of kv-toolbox have stored without a description", async () => {
    await using kv = await openKv();
    for (const part of [1, 2]) await kv.set(["a", "__kv_toolbox_blob__", part], bytesOf(9, part));
    await kv.set(["b", "__kv_toolbox_blob__", 1], bytesOf(9, 3));
    await kv.set(["b", "__kv_toolbox_meta__"], { kind: "blob", type: "image/gif" });
    const found: unknown[] = [];
    for await (const { key, data, type } of toolboxBlobs(kv)) {
      const pieces: Uint8Array[] = [];
      for await (const piece of data) pieces.push(piece);
      found.push([key, type, Buffer.concat(pieces).length]);
    }
    expect(found).toEqual([
      [["a"], "", 18],
      [["b"], "image/gif", 9],
    ]);
  });

  it("reads what kv-toolbox has stored", async () => {
    await using kv = await openKv();
    for (const part of [1, 2, 3]) {
      await kv.set(["a", "b", "__kv_toolbox_blob__", part], bytesOf(63_000, part));
    }
    await kv.set(["a", "b", "__kv_toolbox_meta__"], {
      kind: "blob",
      type: "image/gif",
      size: 189_000,
    });
    const files = blobs(kv);
    for await (const { key, data, type, isEncrypted } of toolboxBlobs(kv)) {
      expect(isEncrypted).toBe(false);
      await files.set(key, data, { type });
    }
    const expected = Buffer.concat([1, 2, 3].map((part) => bytesOf(63_000, part)));
    expectSame(await files.get(["a", "b"]), expected);
    expect(await files.info(["a", "b"])).toMatchObject({ type: "image/gif" });
  });
});
