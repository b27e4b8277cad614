import { EventEmitter, getEventListeners, once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type AtomicOperation, type Kv, openKv, type Turn } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { kvWith } from "../src/state/context/kv/kv-with.js";
import { longestPauseInTurn } from "../src/state/transaction/pause.js";
import { runTransaction } from "../src/state/transaction/run-transaction.js";
import { TransactionKv } from "../src/state/transaction/transaction-kv.js";

describe("the pause of a call that has lost during its turn", () => {
  it("is not longer than two attempts, and shorter after more of them", () => {
    expect(longestPauseInTurn(5, 3)).toBe(6);
    expect(longestPauseInTurn(16, 3)).toBe(3);
    expect(longestPauseInTurn(32, 3)).toBe(1.5);
  });

  it("is not longer than others on a slow server, nor for a call that loses very often", () => {
    expect(longestPauseInTurn(5, 1000)).toBe(50);
    expect(longestPauseInTurn(41, 3)).toBe(50);
  });
});

const clients = 32;

/** Returns the most calls of other clients that ended during one call. */
async function mostOvertaken(calls: number, call: () => Promise<unknown>): Promise<number> {
  let ended = 0;
  let most = 0;
  const client = async () => {
    for (let i = 0; i < calls; i++) {
      const before = ended;
      await call();
      most = Math.max(most, ended - before);
      ended++;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return most;
}

it.each(["update", "upsert", "transaction"] as const)(
  "no %s of a row is overtaken again and again",
  async (method) => {
    await using kv = await openKv();
    const schema = z.object({ id: z.int(), n: z.int() });
    const Counter = defineModel({ name: "counters", schema, primaryKey: "id" });
    const db = await createDatabase({ kv, models: { counters: Counter } });
    await db.counters.create({ data: { id: 1, n: 0 } });
    const where = { id: 1 };
    const data = { n: { increment: 1 } };
    const calls = {
      update: () => db.counters.update({ where, data }),
      upsert: () => db.counters.upsert({ where, create: { id: 1, n: 0 }, update: data }),
      transaction: () => db.transaction((tx) => tx.counters.update({ where, data })),
    };
    const most = await mostOvertaken(10, calls[method]);
    expect((await db.counters.findUnique({ where }))?.n).toBe(10 * clients);
    // On a server, each of the three attempts before a turn takes as long as several commits.
    expect(most).toBeLessThan((kv.isShared === true ? 6 : 2) * clients);
  },
);

it("a turn ends before what runs after the commit, which may write the same keys", async () => {
  await using kv = await openKv();
  let attempts = 0;
  const hadTurn: boolean[] = [];
  await runTransaction(kv, async (tx) => {
    attempts++;
    hadTurn.push(kv.turns.isUsed);
    await tx.get(["a"]);
    // The first attempts lose.
    if (attempts < 5) await kv.set(["a"], attempts);
    await tx.set(["b"], attempts);
    tx.afterCommit(() => {
      hadTurn.push(kv.turns.isUsed);
    });
  });
  const lost = kv.turns.attempts ?? 3;
  expect(hadTurn).toEqual([...Array.from({ length: 5 }, (_, n) => n >= lost), false]);
});

describe("an entry that came with the turn of a transaction", () => {
  /** Begins a transaction with an entry that was read before others have changed it. */
  async function beginWithStale(kv: Awaited<ReturnType<typeof openKv>>): Promise<TransactionKv> {
    await kv.set(["a"], 1);
    const stale = await kv.get(["a"]);
    await kv.set(["a"], 2);
    let entry: typeof stale | undefined = stale;
    const takeEntry = () => {
      const taken = entry;
      entry = undefined;
      return taken && Promise.resolve(taken);
    };
    const turn: Turn = { takeEntry: () => null, end: () => undefined };
    const source = Object.assign(kvWith(kv, {}), { takeEntry }) as Kv;
    return new TransactionKv(source, { attempt: 4, turn });
  }

  it("is not read again, and the commit checks it", async () => {
    await using kv = await openKv();
    const tx = await beginWithStale(kv);
    expect((await tx.get(["a"])).value).toBe(1);
    expect((await tx.get(["a"])).value).toBe(1);
    await tx.set(["a"], 3);
    expect(await tx.commit()).toEqual({ ok: false });
    expect((await kv.get(["a"])).value).toBe(2);
  });

  it("is verified if the transaction only reads", async () => {
    await using kv = await openKv();
    const tx = await beginWithStale(kv);
    expect((await tx.get(["a"])).value).toBe(1);
    expect(await tx.hasConsistentReads()).toBe(false);
    expect(await tx.commit()).toEqual({ ok: false });
  });
});

describe("the signal of a transaction", () => {
  it("has one listener, however many reads wait", async () => {
    await using kv = await openKv();
    const { signal } = new AbortController();
    let most = 0;
    await runTransaction(
      kv,
      async (tx) => {
        const reads = Array.from({ length: 30 }, (_, i) => tx.list({ prefix: [i] }).next());
        await nextTurn();
        most = getEventListeners(signal, "abort").length;
        await Promise.all(reads);
      },
      { signal },
    );
    expect(most).toBeLessThanOrEqual(1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("ends a read that gets no answer", async () => {
    await using kv = await openKv();
    const begun = new EventEmitter();
    const get = () => {
      begun.emit("read");
      return new Promise<never>(() => undefined);
    };
    const hasBegun = once(begun, "read");
    const controller = new AbortController();
    let failure: unknown;
    const transaction = runTransaction(
      kvWith(kv, { get }),
      async (tx) => {
        await tx.get(["a"]).catch((error: unknown) => {
          failure = error;
        });
        await tx.set(["b"], 1);
      },
      { signal: controller.signal },
    );
    await hasBegun;
    controller.abort(new Error("enough"));
    await expect(transaction).rejects.toThrow("enough");
    expect(failure).toBe(controller.signal.reason);
    expect((await kv.get(["b"])).value).toBe(null);
  });

  it("does not hide the result of a commit that has begun", async () => {
    await using kv = await openKv();
    const commits = new EventEmitter();
    const hasBegun = once(commits, "begun");
    const atomic = () => {
      const operation = kv.atomic();
      const commit: AtomicOperation["commit"] = operation.commit.bind(operation);
      operation.commit = async () => {
        commits.emit("begun");
        await once(commits, "permitted");
        return await commit();
      };
      return operation;
    };
    const controller = new AbortController();
    const { signal } = controller;
    const transaction = runTransaction(kvWith(kv, { atomic }), (tx) => tx.set(["a"], 1), {
      signal,
    });
    await hasBegun;
    controller.abort(new Error("enough"));
    commits.emit("permitted");
    expect(await transaction).toMatchObject({ ok: true });
    expect((await kv.get(["a"])).value).toBe(1);
  });
});

it("a transaction that has lost three attempts has its turn soon, however many others there are", async () => {
  await using kv = await openKv();
  await kv.set(["n"], 0);
  let most = 0;
  const client = async () => {
    for (let i = 0; i < 5; i++) {
      let attempts = 0;
      await runTransaction(kv, async (tx) => {
        attempts++;
        const { value } = await tx.get<number>(["n"]);
        await nextTurn();
        await tx.set(["n"], value! + 1);
      });
      most = Math.max(most, attempts);
    }
  };
  await Promise.all(Array.from({ length: 64 }, client));
  expect((await kv.get(["n"])).value).toBe(320);
  expect(most).toBeLessThanOrEqual(6);
});
