import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { type Kv, openKv } from "../src/index.js";
import { type HeldLock, LockLostError, LockTakenError, withLock } from "../src/tools.js";
import { withFolder } from "./temporary-folder.js";

const key = ["locks", "report"];

/** Returns a database whose commits wait while the gate is closed. */
function gateOf(kv: Kv) {
  let waiting: (() => void)[] = [];
  let onWaiting: (() => void) | undefined;
  const pass = async () => {
    if (onWaiting === undefined) return;
    onWaiting();
    await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const atomic = () => {
    const operation = kv.atomic();
    const commit = operation.commit.bind(operation);
    return Object.assign(operation, { commit: () => pass().then(commit) });
  };
  return {
    kv: new Proxy(kv, {
      get: (_, name) => {
        const member: unknown = name === "atomic" ? atomic : Reflect.get(kv, name);
        return typeof member === "function" ? member.bind(kv) : member;
      },
    }),
    /** Resolves when a commit waits. */
    close: () =>
      new Promise<void>((resolve) => {
        onWaiting = resolve;
      }),
    waiting: () => waiting.length,
    open: () => {
      onWaiting = undefined;
      for (const goOn of waiting) goOn();
      waiting = [];
    },
  };
}

describe("withLock", () => {
  it("runs one task at a time, over all handles and in the order of the calls of each", async () => {
    await withFolder(async (folder) => {
      const handles = [await openKv(folder), await openKv(folder)];
      let running = 0;
      const order: number[][] = [[], []];
      const calls = Array.from({ length: 20 }, (_, i) =>
        withLock(handles[i % 2]!, key, async () => {
          expect(++running).toBe(1);
          order[i % 2]!.push(i);
          await sleep(1);
          running--;
          return i;
        }),
      );
      expect(await Promise.all(calls)).toEqual(Array.from({ length: 20 }, (_, i) => i));
      for (const each of order) expect(each).toEqual(each.toSorted((a, b) => a - b));
      for await (const entry of handles[0]!.list({ prefix: key })) expect(entry).toBeUndefined();
      for (const handle of handles) await handle.close();
    });
  });

  it("refuses a lock that is not free in time, and leaves it to its holder", async () => {
    await using kv = await openKv();
    await using other = await openKv();
    expect(other).toBeDefined();
    await withLock(kv, key, async ({ signal }) => {
      const [sameHandle, again] = [withLock(kv, key, () => 1, { waitFor: 20 }), kv.get(key)];
      await expect(sameHandle).rejects.toBeInstanceOf(LockTakenError);
      await again;
      const aborted = withLock(kv, key, () => 1, { signal: AbortSignal.abort(new Error("stop")) });
      await expect(aborted).rejects.toThrow("stop");
      const waiting = new AbortController();
      const left = withLock(kv, key, () => 1, { signal: waiting.signal });
      waiting.abort(new Error("left"));
      await expect(left).rejects.toThrow("left");
      expect(signal.aborted).toBe(false);
    });
    expect(await withLock(kv, key, () => 2, { waitFor: 0 })).toBe(2);
  });

  it("is free after a task that throws", async () => {
    await using kv = await openKv();
    const failed = withLock(kv, key, () => {
      throw new Error("no report");
    });
    await expect(failed).rejects.toThrow("no report");
    expect(await withLock(kv, key, () => "free", { waitFor: 0 })).toBe("free");
  });

  it("keeps a lock for longer than its lease", async () => {
    await withFolder(async (folder) => {
      await using kv = await openKv(folder);
      await using other = await openKv(folder);
      await withLock(
        kv,
        key,
        async ({ check, signal }) => {
          const refused = withLock(other, key, () => 1, { waitFor: 600 });
          await expect(refused).rejects.toBeInstanceOf(LockTakenError);
          expect(signal.aborted).toBe(false);
          const { ok } = await kv.atomic().check(check).set(["report"], 1).commit();
          expect(ok).toBe(true);
        },
        { lease: 150 },
      );
    });
  });

  it("tells a holder that it has lost the lock, and refuses its commits", async () => {
    await using kv = await openKv();
    let first: HeldLock | undefined;
    const task = withLock(
      kv,
      key,
      async (lock) => {
        first = lock;
        await kv
          .atomic()
          .delete([...key, "holder"])
          .delete([...key, "lease"])
          .commit();
        await once(lock.signal, "abort");
        expect(lock.signal.reason).toBeInstanceOf(LockLostError);
        const { ok } = await kv.atomic().check(lock.check).set(["report"], 1).commit();
        expect(ok).toBe(false);
      },
      { lease: 120 },
    );
    await expect(task).rejects.toBeInstanceOf(LockLostError);
    await withLock(kv, key, ({ token }) => expect(token > first!.token).toBe(true));
  });

  it("runs no task for a lock that another holder has taken before the answer came", async () => {
    await using kv = await openKv();
    let isFirst = true;
    let reads = 0;
    const late = new Proxy(kv, {
      get: (_, name) => {
        const member: unknown = Reflect.get(kv, name);
        if (name === "getMany") reads++;
        if (name !== "atomic") return typeof member === "function" ? member.bind(kv) : member;
        return () => {
          const operation = kv.atomic();
          const commit = operation.commit.bind(operation);
          return Object.assign(operation, {
            commit: async () => {
              const result = await commit();
              if (!isFirst) return result;
              isFirst = false;
              await begun;
              return result;
            },
          });
        };
      },
    });
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const running: string[] = [];
    const first = withLock(late, key, () => void running.push("late"), { lease: 120 });
    await vi.waitFor(() => expect(isFirst).toBe(false));
    let end: () => void = () => undefined;
    const second = withLock(kv, key, async () => {
      running.push("other");
      begin();
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      running.push("end of other");
    });
    await begun;
    // It notices that it has lost the lock, and asks for it again.
    await vi.waitFor(() => expect(reads).toBe(2), { timeout: 30_000 });
    end();
    await Promise.all([first, second]);
    expect(running).toEqual(["other", "end of other", "late"]);
  });

  it("tells a holder that the lease ends while the database does not answer", async () => {
    await using kv = await openKv();
    const gate = gateOf(kv);
    const task = withLock(
      gate.kv,
      key,
      async ({ signal }) => {
        void gate.close();
        await once(signal, "abort");
        gate.open();
      },
      { lease: 120 },
    );
    await expect(task).rejects.toBeInstanceOf(LockLostError);
  });

  it("neither renews nor reports a loss after the task has ended", async () => {
    await using kv = await openKv();
    const gate = gateOf(kv);
    let signal: AbortSignal | undefined;
    const task = withLock(
      gate.kv,
      key,
      async (lock) => {
        ({ signal } = lock);
        // Ends while a renewal is on its way.
        await gate.close();
      },
      { lease: 300 },
    );
    await vi.waitFor(() => expect(gate.waiting()).toBe(2), 60_000);
    gate.open();
    await task;
    const atomic = vi.spyOn(kv, "atomic");
    await sleep(400);
    expect(atomic).not.toHaveBeenCalled();
    expect(signal?.aborted).toBe(false);
  });

  it("reports a lock that was lost although its lease has not ended", async () => {
    await using kv = await openKv();
    const task = withLock(kv, key, async () => {
      // As another holder does if this process stood still, and its clock with it.
      await kv
        .atomic()
        .delete([...key, "holder"])
        .delete([...key, "lease"])
        .commit();
    });
    await expect(task).rejects.toBeInstanceOf(LockLostError);
  });

  it.each([3_600_000, -3_600_000])("waits one lease if the clock is %d ms off", async (off) => {
    await using kv = await openKv(":memory:", { compat: "deno" });
    await kv.set([...key, "holder"], { since: Date.now() });
    await kv.set([...key, "lease"], { until: Date.now() + off, lease: 150 });
    expect(await withLock(kv, key, () => "free", { waitFor: 30_000 })).toBe("free");
  });

  it("is free when the lease of a killed process has ended", async () => {
    await withFolder(async (folder) => {
      await using kv = await openKv(folder);
      const child = fork(fileURLToPath(new URL("hold-lock.mjs", import.meta.url)), [folder]);
      const [{ token }] = (await once(child, "message")) as [{ token: string }];
      await expect(withLock(kv, key, () => 1, { waitFor: 0 })).rejects.toThrow(/taken/);
      child.kill("SIGKILL");
      await withLock(kv, key, async (lock) => {
        expect(lock.token > token).toBe(true);
        const late = kv.atomic().check({ key: lock.check.key, versionstamp: token });
        expect((await late.set(["report"], 1).commit()).ok).toBe(false);
      });
    });
  });

  it("accepts a lease that is a fraction on Deno KV", async () => {
    await using kv = await openKv(":memory:", { compat: "deno" });
    expect(await withLock(kv, key, () => 1, { lease: 100.7 })).toBe(1);
  });

  it.each([{ lease: 99 }, { lease: Number.NaN }, { waitFor: -1 }])(
    "refuses the options %o",
    async (options) => {
      await using kv = await openKv();
      await expect(withLock(kv, key, () => 1, options)).rejects.toMatchObject({
        code: "KW_OPTION_INVALID",
      });
    },
  );
});
