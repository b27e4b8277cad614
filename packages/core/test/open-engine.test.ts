import { MemoryLevel } from "memory-level";
import { describe, expect, it } from "vitest";
import {
  AmbiguousCommitError,
  EngineUnavailableError,
  encodeKey,
  KvU64,
  openKv,
} from "../src/index.js";
import { kvContract } from "../src/testing/index.js";
import { engineOf } from "./engine-of.js";

kvContract(
  { describe, it },
  {
    name: "Kv on an engine",
    capabilities: ["reopen"],
    create: async () => {
      const level = new MemoryLevel<Uint8Array, Uint8Array>({ storeEncoding: "view" });
      let kv = await openKv(await engineOf({ level }));
      return {
        kv,
        reopen: async () => {
          await kv.close();
          kv = await openKv(await engineOf({ level }));
          return kv;
        },
        dispose: () => kv.close(),
      };
    },
  },
);

describe("openKv with an engine", () => {
  it("shares the engine between its calls, and closes it with the last handle", async () => {
    const engine = await engineOf();
    let closes = 0;
    const close = engine.close.bind(engine);
    engine.close = async () => {
      closes++;
      await close();
    };
    const [first, second] = await Promise.all([openKv(engine), openKv(engine)]);
    await first.set(["a"], 1);
    await first.close();
    expect((await second.get(["a"])).value).toBe(1);
    expect(closes).toBe(0);
    await second.close();
    expect(closes).toBe(1);
  });

  it("remembers the mode in which the database was created", async () => {
    for (const compat of [undefined, "deno"] as const) {
      const level = new MemoryLevel<Uint8Array, Uint8Array>({ storeEncoding: "view" });
      const first = await openKv(await engineOf({ level }), { compat });
      await first.set(["a"], 1);
      await first.close();
      const other = compat === "deno" ? undefined : ("deno" as const);
      await expect(openKv(await engineOf({ level }), { compat: other })).rejects.toMatchObject({
        code: "KW_DATABASE_MODE",
      });
      await using again = await openKv(await engineOf({ level }), { compat, readOnly: true });
      expect((await again.get(["a"])).value).toBe(1);
    }
  });

  it("creates no database for a handle that may not", async () => {
    for (const options of [{ readOnly: true }, { createIfMissing: false }]) {
      const engine = await engineOf();
      await expect(openKv(engine, options)).rejects.toMatchObject({
        code: "KW_DATABASE_NOT_FOUND",
      });
      await using kv = await openKv(engine);
      await kv.set(["a"], 1);
    }
  });

  it("has limits at most as high as those of the engine", async () => {
    const limits = { keyBytes: 100, valueBytes: 200, keys: 3, checks: 2, mutations: 4 };
    await using kv = await openKv(await engineOf({ limits }), { limits: { checks: 1, keys: 5 } });
    expect(kv.limits).toMatchObject({ ...limits, checks: 1 });
    const long = kv.set(["x".repeat(100)], 1);
    await expect(long).rejects.toMatchObject({ code: "KW_LIMIT_EXCEEDED", limit: "keyBytes" });
  });

  it("says if other processes can have the database open", async () => {
    for (const isShared of [true, false]) {
      await using kv = await openKv(await engineOf({ isShared }));
      expect(kv.isShared).toBe(isShared);
    }
  });

  it("continues after commits whose outcome is an error", async () => {
    for (const failure of [
      new AmbiguousCommitError(10),
      new EngineUnavailableError("no server answers", "Start it"),
    ]) {
      const traits: { failure?: Error } = { failure };
      await using kv = await openKv(await engineOf(traits));
      await expect(kv.set(["a"], 1)).rejects.toBe(failure);
      delete traits.failure;
      await kv.atomic().sum(["n"], 2n).commit();
      expect((await kv.get(["n"])).value).toEqual(new KvU64(2n));
    }
  });

  it("reports changes whose keys the engine cannot tell as incomplete", async () => {
    const engine = await engineOf();
    let tell: (keys: readonly Uint8Array[] | undefined) => void = () => undefined;
    engine.watchRanges = (_ranges, onChange) => {
      tell = onChange;
      return () => undefined;
    };
    await using kv = await openKv(engine);
    const reader = kv.watchRange([{ prefix: ["a"] }]).getReader();
    tell(undefined);
    expect((await reader.read()).value).toEqual({ keys: [], isComplete: false });
    tell([encodeKey(["a", 1])]);
    expect((await reader.read()).value).toEqual({ keys: [["a", 1]], isComplete: true });
  });
});
