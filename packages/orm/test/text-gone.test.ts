import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { goneLists } from "../src/derived/text/compact/gone-lists.js";
import { packGone } from "../src/derived/text/compact/pack-gone.js";
import { readGone } from "../src/derived/text/segment-source.js";
import { goneKey, type TextGroup } from "../src/derived/text/text-keys.js";
import type { TextState } from "../src/derived/text/text-state.js";
import type { ModelStore } from "../src/state/context/model-store.js";

const group = { index: { place: "notes", parts: [] }, values: [] } as unknown as TextGroup;

it("lists of gone documents fit the values of Deno KV, however many there are", async () => {
  // Its values have at most 64 KiB, and it refuses longer ones.
  await using kv = await openKv(":memory:", { compat: "deno" });
  await expect(kv.set(["long"], new Uint8Array(65_537))).rejects.toThrow();
  const check = { key: ["catalog"], versionstamp: null };
  const limits = { mutations: 1000, batchSize: 500, checks: 10, keys: 10, keyBytes: 2048 };
  const catalog = { snapshot: { check } };
  const store = { kv, model: { name: "notes" }, catalog, limits } as unknown as ModelStore;
  const segment = { id: 1, docs: 80_000, gone: 0, docsPerBlock: 256, bytes: 0 };
  const state: TextState = { format: 1, next: 2, segments: [segment], unfinished: [], left: [] };
  await kv.set(["notes", "state"], state);
  const docs = Array.from({ length: 70_000 }, (_, doc) => doc);
  for (let from = 0; from < docs.length; from += 900) {
    const operation = kv.atomic();
    for (const doc of docs.slice(from, from + 900)) operation.set(goneKey(group, 1, doc), true);
    await operation.commit();
  }
  let packed = 0;
  for (let size = -1; size !== 0; packed += size) size = await packGone(store, group, 1, 1000);
  expect(packed).toBe(docs.length);
  let entries = 0;
  const gone = await readGone({ kv, model: store.model, limits }, group, () => entries++);
  expect(entries).toBe(3);
  expect(gone.get(1)).toEqual(docs);
  expect((await kv.get<TextState>(["notes", "state"])).value?.segments[0]?.gone).toBe(70_000);
  // Those that are listed already are not counted twice.
  await kv.set(goneKey(group, 1, 69_999), true);
  expect(await packGone(store, group, 1, 1000)).toBe(1);
  expect((await kv.get<TextState>(["notes", "state"])).value?.segments[0]?.gone).toBe(70_000);
});

it("a list has the documents that are near each other", () => {
  const lists = goneLists(group, 7, [0, 32_767, 32_768, 98_304]);
  expect(lists.map(({ key, docs }) => [key, docs])).toEqual([
    [
      ["notes", "gone", 7],
      [0, 32_767],
    ],
    [["notes", "gone", 7, "list", 1], [32_768]],
    [["notes", "gone", 7, "list", 3], [98_304]],
  ]);
});
