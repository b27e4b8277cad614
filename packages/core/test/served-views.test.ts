import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RemoteEngine } from "../src/engine/remote/client/remote-engine.js";
import { ServedViews } from "../src/engine/remote/server/served-views.js";
import type { Engine, ReadView } from "../src/index.js";
import { decodeValue, encodeKey, encodeValue } from "../src/index.js";
import { soon } from "../src/testing/soon.js";
import { engineOf } from "./engine-of.js";
import { connectTo, type Owner, startOwner } from "./remote-engine.js";

const key = encodeKey(["a"]);

async function set(engine: Engine, value: number): Promise<void> {
  const mutations = [{ type: "set", key, value: encodeValue(value) }] as const;
  await engine.commit([{ checks: [], mutations, sync: false }]);
}

/** Counts the views of an engine that are open. */
function counted(engine: Engine): { readonly engine: Engine; open(): number } {
  let open = 0;
  const openView = async (): Promise<ReadView> => {
    const view = await engine.openView!();
    open++;
    return {
      get: (read) => view.get(read),
      getMany: (read) => view.getMany(read),
      getRange: (read) => view.getRange(read),
      close: () => {
        open--;
        view.close();
      },
    };
  };
  return { engine: { ...engine, openView }, open: () => open };
}

describe("a view of an attached process", () => {
  let owner: Owner;
  let engine: RemoteEngine;
  beforeEach(async () => {
    owner = await startOwner();
    engine = await connectTo(owner);
  });
  afterEach(async () => {
    await engine.close();
    await owner.close();
  });

  it("ends when the connection is lost, and a new one can be opened", async () => {
    await set(engine, 1);
    const view = await engine.openView!();
    await set(owner.engine, 2);
    owner.disconnect();
    await expect(view.get(key)).rejects.toMatchObject({ code: "KW_READ_VIEW_ENDED" });
    view.close();
    const next = await engine.openView!();
    expect(decodeValue((await next.get(key))!.value)).toBe(2);
    next.close();
  });

  it("is freed in the owner when it is closed, and when its process goes away", async () => {
    const closed: Promise<void>[] = [];
    const openView = () => {
      let close: () => void = () => undefined;
      closed.push(new Promise<void>((resolve) => (close = resolve)));
      return { get: () => undefined, getMany: () => [], getRange: () => [], close };
    };
    Object.assign(owner.engine, { openView });
    const [first] = [await engine.openView!(), await engine.openView!()];
    first.close();
    await soon("the end of the closed view", closed[0]!);
    owner.disconnect();
    await soon("the end of the view of the lost connection", closed[1]!);
  });
});

describe("the owner of views", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("closes one that is not used for 15 minutes, or open for an hour", async () => {
    vi.useFakeTimers();
    const source = await engineOf({ hasViews: true });
    const { engine, open } = counted(source);
    try {
      const views = new ServedViews(engine);
      await views.open(1);
      await views.open(2);
      for (let minute = 0; minute < 12; minute += 3) {
        vi.advanceTimersByTime(3 * 60_000);
        await views.use(2, () => null);
      }
      expect(open()).toBe(2);
      vi.advanceTimersByTime(4 * 60_000);
      expect(open()).toBe(1);
      expect(() => views.use(1, () => null)).toThrow(
        expect.objectContaining({ code: "KW_READ_VIEW_ENDED" }),
      );
      for (let minute = 0; minute < 120; minute++) {
        if (open() === 1) await views.use(2, () => null);
        vi.advanceTimersByTime(30_000);
      }
      expect(open()).toBe(0);
    } finally {
      await source.close();
    }
  });

  it("closes one that is opened while the client goes away", async () => {
    const source = await engineOf({ hasViews: true });
    const { engine, open } = counted(source);
    try {
      const views = new ServedViews(engine);
      const opening = views.open(1);
      views.closeAll();
      await opening;
      await sleep(0);
      expect(open()).toBe(0);
    } finally {
      await source.close();
    }
  });

  it("limits how many one client has", async () => {
    const source = await engineOf({ hasViews: true });
    const { engine, open } = counted(source);
    try {
      const views = new ServedViews(engine);
      for (let id = 0; id < 5000; id++) await views.open(id);
      expect(() => views.open(5000)).toThrow(
        expect.objectContaining({ code: "KW_READ_VIEW_ENDED" }),
      );
      expect(open()).toBe(5000);
      views.closeAll();
      expect(open()).toBe(0);
    } finally {
      await source.close();
    }
  });
});
