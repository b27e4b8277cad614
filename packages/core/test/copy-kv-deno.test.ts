import { openKv as openDenoKv } from "@deno/kv";
import { describe, expect, it } from "vitest";
import { copyKv } from "../src/kv/copy/copy-kv.js";
import type { CopyProgress } from "../src/kv/copy/copy-options.js";
import type { Kv } from "../src/kv/kv.js";
import { openKv } from "../src/kv/open-kv.js";
import { KvU64 } from "../src/values/kv-u64.js";
import {
  contentDifference,
  entriesOf,
  everyKey,
  fillWithEverything,
  progressKey,
} from "./copied-content.js";
import { hasFormatOfV8 } from "./javascript-engine.js";
import { withFolder } from "./temporary-folder.js";

/** `@deno/kv` takes -0 in a key for 0. */
const denoKeys = everyKey.filter((key) => !key.some((part) => Object.is(part, -0)));

async function withDenoKv(body: (kv: Kv) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const kv = (await openDenoKv(`${folder}/deno.sqlite`)) as unknown as Kv;
    try {
      await body(kv);
    } finally {
      await kv.close();
    }
  });
}

describe.skipIf(!hasFormatOfV8)("copyKv and Deno KV, which needs V8's format of values", () => {
  it("brings everything there and back", async () => {
    await withDenoKv(async (deno) => {
      await withFolder(async (folder) => {
        const from = await openKv(folder, { durability: "relaxed" });
        try {
          const entries = await fillWithEverything(from, denoKeys);
          expect(await copyKv(from, deno)).toMatchObject({ entries });
          expect(await contentDifference(deno, from)).toBeUndefined();
          const back = await openKv();
          expect(await copyKv(deno, back)).toMatchObject({ entries });
          expect(await contentDifference(back, from)).toBeUndefined();
        } finally {
          await from.close();
        }
      });
    });
  });

  it("continues after every key that Deno KV has", async () => {
    await withDenoKv(async (deno) => {
      const total = await fillWithEverything(deno, denoKeys);
      const to = await openKv(":memory:", { limits: { mutations: 2 } });
      // Each call copies what fits into one commit, and stops.
      for (let calls = 0, isComplete = false; !isComplete; calls++) {
        expect(calls).toBeLessThanOrEqual(total);
        const stop = ({ verified }: CopyProgress) => {
          if (verified === 0) throw new Error("stopped");
        };
        isComplete = await copyKv(deno, to, { onProgress: stop }).then(
          ({ entries }) => entries === total,
          () => false,
        );
      }
      expect(await contentDifference(to, deno)).toBeUndefined();
      expect((await to.get(progressKey)).versionstamp).toBeNull();
    });
  });

  it("replaces what is there with numbers that it counts with", async () => {
    await withDenoKv(async (deno) => {
      const from = await openKv();
      await from.set(["text"], new KvU64(5n));
      await from.set(["number"], new KvU64(6n), { expireIn: 1_000_000 });
      await deno.set(["text"], "text");
      await deno.atomic().sum(["number"], 100n).commit();
      await copyKv(from, deno);
      await deno.atomic().sum(["text"], 1n).sum(["number"], 1n).commit();
      expect(await entriesOf(deno)).toMatchObject([
        { key: ["number"], value: { value: 7n } },
        { key: ["text"], value: { value: 6n } },
      ]);
    });
  });

  it.each([
    ["small entries", 3000, (): unknown => 1, "n"],
    ["large values", 60, (): unknown => new Uint8Array(60_000), "n"],
    ["text of two bytes a character", 60, (): unknown => `\u{416}${"x".repeat(30_000)}`, "n"],
    ["large keys", 200, (): unknown => 1, "k".repeat(2000)],
  ])(
    "stays within its limits, or tries again with less: %s",
    async (_, count, makeValue, prefix) => {
      await withDenoKv(async (deno) => {
        const from = await openKv();
        for (let n = 0; n < count; n++) await from.set([prefix, n], makeValue());
        expect(await copyKv(from, deno)).toMatchObject({ entries: count });
        expect(await contentDifference(deno, from)).toBeUndefined();
      });
    },
  );

  it("names the key of an entry that is too large for it", async () => {
    await withDenoKv(async (deno) => {
      const from = await openKv();
      await from.set(["a"], 1);
      await from.set(["b"], new Uint8Array(70_000));
      await from.set(["c"], 2);
      await expect(copyKv(from, deno)).rejects.toMatchObject({
        code: "KW_COPY_FAILED",
        key: ["b"],
        cause: { message: expect.stringMatching(/ValueTooLong|Value too large/) as string },
      });
      expect((await deno.get(["a"])).value).toBe(1);
    });
  });
});
