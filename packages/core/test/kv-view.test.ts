import { describe, expect, it, vi } from "vitest";
import type { KvEntry } from "../src/index.js";
import { openKv } from "../src/index.js";
import { engineOf } from "./engine-of.js";

async function values(entries: AsyncIterable<KvEntry<unknown>>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { value } of entries) found.push(value);
  return found;
}

describe.each([undefined, "deno"] as const)("a view of a database, compat: %s", (compat) => {
  const options = compat === undefined ? {} : { compat };

  it("reads one state in every way", async () => {
    const kv = await openKv(":memory:", options);
    try {
      await kv.atomic().set(["a"], 1).set(["b"], 2, { expireIn: 100_000 }).commit();
      const view = (await kv.openView())!;
      await kv.atomic().delete(["a"]).set(["b"], 3).set(["c"], 4).commit();
      vi.spyOn(Date, "now").mockReturnValue(Date.now() + 200_000);
      expect((await view.get(["a"])).value).toBe(1);
      expect((await view.getMany([["b"], ["c"]])).map(({ value }) => value)).toEqual([2, null]);
      expect(await values(view.list({ prefix: [] }, { batchSize: 1 }))).toEqual([1, 2]);
      expect(await values(view.list({ prefix: [] }, { reverse: true, limit: 1 }))).toEqual([2]);
      expect(view.limits).toEqual(kv.limits);
      expect(await values(kv.list({ prefix: [] }))).toEqual([3, 4]);
      view.close();
      view.close();
      await expect(view.get(["a"])).rejects.toMatchObject({ code: "KW_READ_VIEW_ENDED" });
    } finally {
      vi.restoreAllMocks();
      await kv.close();
    }
  });

  it("ends with its handle, although another handle is open", async () => {
    const engine = await engineOf({ hasViews: true });
    const opened = await engine.openView!();
    const close = vi.spyOn(opened, "close");
    Object.assign(engine, { openView: () => opened });
    const [kv, other] = [await openKv(engine, options), await openKv(engine, options)];
    const view = await kv.openView();
    await kv.close();
    expect(close).toHaveBeenCalledTimes(1);
    await expect(view!.get(["a"])).rejects.toThrow();
    expect((await other.get(["a"])).value).toBeNull();
    await other.close();
    await expect(async () => await kv.openView()).rejects.toThrow();
  });

  it("is undefined if the engine has none", async () => {
    const kv = await openKv(await engineOf(), options);
    expect(await kv.openView()).toBeUndefined();
    await kv.close();
  });
});
