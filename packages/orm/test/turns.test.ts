import { setImmediate as nextTurn } from "node:timers/promises";
import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { runTransaction } from "../src/state/transaction/run-transaction.js";
import { Turns } from "../src/state/transaction/turns.js";

const footprint = (reads: string, writes = "") => ({
  reads: new Set(reads) as never,
  writes: new Set(writes) as never,
});

describe("turns", () => {
  it("are taken in the order in which calls came that read what others write", async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const take = async (name: string, reads: string, writes?: string) => {
      const end = await turns.take(footprint(reads, writes), undefined);
      begun.push(name);
      return end;
    };
    const [first, second, third, other] = [
      take("first", "a", "a"),
      take("second", "ab", "ab"),
      take("third", "b", "b"),
      take("other", "c", "c"),
    ];
    await other;
    await nextTurn();
    expect(begun).toEqual(["first", "other"]);
    (await first)();
    (await second)();
    (await third)();
    expect(begun).toEqual(["first", "other", "second", "third"]);
    expect(turns.conflictsWith(footprint("b", "b"))).toBe(false);
    (await other)();
    expect(turns.isUsed).toBe(false);
  });

  it("are not waited for by calls that read the same keys and write others", async () => {
    const turns = new Turns();
    const ends = await Promise.all([
      turns.take(footprint("ax", "a"), undefined),
      turns.take(footprint("bx", "b"), undefined),
    ]);
    for (const end of ends) end();
    expect(turns.isUsed).toBe(false);
  });

  it("are given up by a call whose signal is aborted", async () => {
    const turns = new Turns();
    const end = await turns.take(footprint("a", "a"), undefined);
    const controller = new AbortController();
    const aborted = turns.take(footprint("a", "a"), controller.signal);
    const last = turns.take(footprint("a", "a"), undefined);
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    end();
    (await last)();
    await expect(turns.take(footprint("a"), controller.signal)).rejects.toThrow("enough");
    expect(turns.isUsed).toBe(false);
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
