import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { TurnLine } from "../src/index.js";

const footprint = (reads: string, writes = "") => ({
  reads: new Set(reads),
  writes: new Set(writes),
});

describe("turns", () => {
  it("are taken in the order in which calls came that read what others write", async () => {
    const turns = new TurnLine();
    const begun: string[] = [];
    const take = async (name: string, reads: string, writes?: string) => {
      const turn = await turns.take(footprint(reads, writes));
      begun.push(name);
      return turn;
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
    (await first).end();
    (await second).end();
    (await third).end();
    expect(begun).toEqual(["first", "other", "second", "third"]);
    expect(turns.conflictsWith(footprint("b", "b"))).toBe(false);
    (await other).end();
    expect(turns.isUsed).toBe(false);
  });

  it("are not waited for by calls that read the same keys and write others", async () => {
    const turns = new TurnLine();
    const both = await Promise.all([
      turns.take(footprint("ax", "a")),
      turns.take(footprint("bx", "b")),
    ]);
    for (const turn of both) turn.end();
    expect(turns.isUsed).toBe(false);
  });

  it("are not waited for by calls that write the same keys without reading them", async () => {
    const turns = new TurnLine();
    const [first, second] = [
      await turns.take(footprint("a", "ax")),
      await turns.take(footprint("b", "bx")),
    ];
    expect(turns.conflictsWith(footprint("c", "cx"))).toBe(false);
    expect(turns.conflictsWith(footprint("x"))).toBe(true);
    let hasRead = false;
    const reader = turns.take(footprint("x")).then((turn) => {
      hasRead = true;
      return turn;
    });
    // It must not overtake the reader, although the writers before that would not be in its way.
    expect(turns.conflictsWith(footprint("d", "dx"))).toBe(true);
    first.end();
    await nextTurn();
    expect(hasRead).toBe(false);
    second.end();
    (await reader).end();
    expect(turns.isUsed).toBe(false);
  });

  it("are given up by a call whose signal is aborted", async () => {
    const turns = new TurnLine();
    const first = await turns.take(footprint("a", "a"));
    const controller = new AbortController();
    const aborted = turns.take(footprint("a", "a"), controller.signal);
    const last = turns.take(footprint("a", "a"));
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    first.end();
    (await last).end();
    await expect(turns.take(footprint("a"), controller.signal)).rejects.toThrow("enough");
    expect(turns.isUsed).toBe(false);
  });
});
