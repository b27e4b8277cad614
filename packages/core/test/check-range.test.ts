import { describe, expect, it } from "vitest";
import type { Kv } from "../src/index.js";
import { openKv } from "../src/index.js";
import { engineOf } from "./engine-of.js";

const groups = { prefix: ["groups", "a"] };

async function withKv(
  options: Parameters<typeof openKv>[1],
  use: (kv: Kv) => Promise<void>,
): Promise<void> {
  const kv = await openKv(":memory:", options);
  try {
    await use(kv);
  } finally {
    await kv.close();
  }
}

/** Adds a member to a group of at most three, or returns false if it is full. */
async function join(kv: Kv, name: string): Promise<boolean> {
  for (;;) {
    const view = (await kv.openView?.())!;
    let members = 0;
    for await (const _ of view.list(groups)) members++;
    view.close();
    if (members >= 3) return false;
    const operation = kv.atomic().checkRange!(groups, view.versionstamp!);
    const { ok } = await operation.set(["groups", "a", name], true).commit();
    if (ok) return true;
  }
}

describe.each([undefined, "deno"] as const)("checkRange, compat: %s", (compat) => {
  const options = compat === undefined ? {} : { compat };

  it("lets three of 16 join a group for three", () =>
    withKv(options, async (kv) => {
      const joined = await Promise.all(Array.from({ length: 16 }, (_, i) => join(kv, `m${i}`)));
      expect(joined.filter(Boolean)).toHaveLength(3);
    }));

  it("takes a prefix, or a start and an end, and the versionstamp of a commit", () =>
    withKv(options, async (kv) => {
      const first = await kv.set(["groups", "a", "ada"], 1);
      await kv.set(["groups", "b", "bob"], 1);
      const at = async (selector: typeof groups | { start: string[]; end: string[] }) => {
        const operation = kv.atomic().checkRange!(selector, first.versionstamp);
        return (await operation.set(["x"], 1).commit()).ok;
      };
      expect(await at(groups)).toBe(true);
      expect(await at({ prefix: ["groups"] })).toBe(false);
      expect(await at({ start: ["groups", "a"], end: ["groups", "b"] })).toBe(true);
      expect(await at({ start: ["groups", "a"], end: ["groups", "c"] })).toBe(false);
    }));

  it("refuses selectors and versionstamps that are not valid", () =>
    withKv(options, async (kv) => {
      const check = (selector: unknown, versionstamp: unknown) => () =>
        kv.atomic().checkRange!(selector as typeof groups, versionstamp as string);
      const stamp = "0".repeat(20);
      expect(check({ start: ["a"] }, stamp)).toThrow();
      expect(check({ start: ["b"], end: ["a"] }, stamp)).toThrow();
      expect(check({ prefix: [Symbol()] }, stamp)).toThrow();
      for (const versionstamp of [null, undefined, "", "0".repeat(19), "G".repeat(20)])
        expect(check(groups, versionstamp)).toThrow(
          expect.objectContaining({ code: "KW_VERSIONSTAMP_INVALID" }),
        );
      const future = kv.atomic().checkRange!(groups, "f".repeat(20)).set(["x"], 1);
      await expect(future.commit()).rejects.toMatchObject({ code: "KW_VERSIONSTAMP_INVALID" });
      expect((await kv.get(["x"])).value).toBeNull();
    }));
});

describe("the limits of checkRange", () => {
  it("are not those of checks", () =>
    withKv({ limits: { checks: 1 } }, async (kv) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const operation = kv.atomic().check({ key: ["a"], versionstamp });
      for (let i = 0; i < 1000; i++) operation.checkRange!(groups, versionstamp);
      expect((await operation.commit()).ok).toBe(true);
    }));

  it("are that an engine may not have it", async () => {
    const kv = await openKv(await engineOf());
    expect(kv.checksRanges).toBe(false);
    expect(() => kv.atomic().checkRange!(groups, "0".repeat(20))).toThrow(
      expect.objectContaining({ code: "KW_RANGE_CHECKS_UNSUPPORTED" }),
    );
    await kv.close();
  });

  it("are what the engine keeps of the latest commits", async () => {
    await withKv({}, async (kv) => {
      const { versionstamp } = await kv.set(["groups", "a", "ada"], 1);
      const name = "x".repeat(4000);
      const ok = async () =>
        (await kv.atomic().checkRange!(groups, versionstamp).set(["y"], 1).commit()).ok;
      expect(await ok()).toBe(true);
      for (let part = 0; part < 8; part++) {
        const operation = kv.atomic();
        for (let i = 0; i < 300; i++) operation.set(["other", name, part, i], null);
        await operation.commit();
      }
      // About 10 MB of keys have changed since, so the engine no longer knows if the group has.
      expect(await ok()).toBe(false);
    });
  });
});
