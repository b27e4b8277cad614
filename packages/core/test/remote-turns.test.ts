import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RemoteEngine } from "../src/engine/remote/client/remote-engine.js";
import { longestTurn, postponed } from "../src/engine/turns.js";
import { type AtomicWrite, encodeValue, type Footprint, type Turn } from "../src/index.js";
import { type Network, startNetwork } from "./network.js";
import { connectTo, type Owner, startOwner } from "./remote-engine.js";

let owner: Owner;
let engine: RemoteEngine;
let other: RemoteEngine;
beforeEach(async () => {
  owner = await startOwner();
  engine = await connectTo(owner);
  other = await connectTo(owner);
  // No turn ends because of its time, unless a test lets the time pass.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await engine.close();
  await other.close();
  await owner.close();
});

/** The keys of letters: `"ab"` are two keys. */
const keys = (letters: string) => [...letters].map((letter) => Uint8Array.of(2, code(letter), 0));
const code = (letter: string) => letter.charCodeAt(0);
const texts = (letters: string) => new Set(keys(letters).map((key) => String.fromCharCode(...key)));
/** The footprint of a call that reads and writes keys. */
const uses = (letters: string): Footprint => ({ reads: texts(letters), writes: texts(letters) });
/** A write of keys that checks that they are absent, or have a versionstamp. */
const write = (letters: string, versionstamp: string | null, turn?: number): AtomicWrite => ({
  checks: keys(letters).map((key) => ({ key, versionstamp })),
  mutations: keys(letters).map((key) => ({ type: "set", key, value: encodeValue(1) })),
  sync: false,
  ...(turn !== undefined && { turn }),
});

/** Takes a turn, and notes that it has begun. */
async function begin(turns: RemoteEngine["turns"] | Owner["turns"], name: string): Promise<Turn> {
  const turn = await turns.take(uses("a"));
  begun.push(name);
  return turn;
}
let begun: string[];
beforeEach(() => {
  begun = [];
});

/** Resolves when the owner has handled what clients have sent before this call. */
async function handled(): Promise<void> {
  await Promise.all([engine.get(keys("a")[0]!), other.get(keys("a")[0]!)]);
}

describe("the turns of attached processes", () => {
  it("begin one after another with those of the owner, in the order in which they came", async () => {
    const first = await begin(engine.turns, "engine");
    const rest = [begin(other.turns, "other")];
    await handled();
    rest.push(begin(owner.turns, "owner"), begin(engine.turns, "engine again"));
    await handled();
    expect(begun).toEqual(["engine"]);
    first.end();
    for (const next of rest) {
      const turn = await next;
      await handled();
      turn.end();
    }
    expect(begun).toEqual(["engine", "other", "owner", "engine again"]);
    await expect.poll(() => owner.turns.isUsed).toBe(false);
  });

  it("are not waited for by those that use other keys", async () => {
    const first = await engine.turns.take(uses("ab"));
    (await other.turns.take(uses("cd"))).end();
    first.end();
  });

  it("end with their commit, without another message", async () => {
    const turn = await engine.turns.take(uses("a"));
    const next = begin(owner.turns, "owner");
    // A commit whose check fails leaves the turn.
    expect(await engine.commit([write("a", "0".repeat(20), turn.number)])).toEqual([null]);
    expect(begun).toEqual([]);
    await engine.commit([write("a", null, turn.number)]);
    (await next).end();
    expect(owner.turns.isUsed).toBe(false);
    turn.end();
    await handled();
    expect(engine.turns.isUsed).toBe(false);
  });

  it("postpone the commits of others that use the same keys, unless these must not be", async () => {
    const turn = await owner.turns.take(uses("a"));
    expect(await other.commit([write("a", null, 0), write("b", null, 0)])).toEqual([
      postponed,
      expect.any(String),
    ]);
    expect(await other.commit([write("a", null)])).toEqual([expect.any(String)]);
    turn.end();
  });

  it("have the entries that the call reads and writes, once", async () => {
    const [a, b, c] = keys("abc");
    const [versionstamp] = await engine.commit([write("a", null)]);
    const turn = await engine.turns.take({ reads: texts("abc"), writes: texts("abd") });
    const text = (key: Uint8Array) => String.fromCharCode(...key);
    expect(turn.takeEntry?.(text(a!))).toMatchObject({ key: a, versionstamp });
    expect(turn.takeEntry?.(text(a!))).toBeUndefined();
    expect(turn.takeEntry?.(text(b!))).toBeNull();
    expect(turn.takeEntry?.(text(c!))).toBeUndefined();
    turn.end();
  });

  it("are given back when the connection is lost, also those that are awaited", async () => {
    const turn = await engine.turns.take(uses("a"));
    const awaited = begin(engine.turns, "engine");
    await handled();
    const next = begin(other.turns, "other");
    await handled();
    await engine.close();
    (await next).end();
    turn.end();
    (await awaited).end();
    await expect.poll(() => owner.turns.isUsed).toBe(false);
  });

  it("are awaited at the next owner if the first one ends", async () => {
    const turn = await owner.turns.take(uses("a"));
    const waiting = begin(engine.turns, "engine");
    await handled();
    owner.restart();
    (await waiting).end();
    expect((await engine.commit([write("a", null, 0)]))[0]).toEqual(expect.any(String));
    turn.end();
    await expect.poll(() => owner.turns.isUsed).toBe(false);
  });

  it("are given up by a call whose signal is aborted", async () => {
    const turn = await owner.turns.take(uses("a"));
    const controller = new AbortController();
    const aborted = engine.turns.take(uses("a"), controller.signal);
    await handled();
    const next = begin(other.turns, "other");
    await handled();
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await handled();
    turn.end();
    (await next).end();
    await expect(engine.turns.take(uses("a"), controller.signal)).rejects.toThrow("enough");
    await expect.poll(() => owner.turns.isUsed).toBe(false);
    expect(engine.turns.isUsed).toBe(false);
  });

  it("end after a second if the call does not end them, and others of its process keep theirs", async () => {
    const turn = await engine.turns.take(uses("a"));
    const waiting = begin(engine.turns, "engine");
    await handled();
    const next = begin(other.turns, "other");
    await handled();
    vi.advanceTimersByTime(longestTurn);
    (await waiting).end();
    (await next).end();
    expect(begun).toEqual(["engine", "other"]);
    // It has no turn any longer, and is not in the way of its own commit.
    expect(await engine.commit([write("a", null, turn.number)])).toEqual([expect.any(String)]);
    turn.end();
  });

  it("are as many as the owner accepts, and others take turns in their process alone", async () => {
    const first = await owner.turns.take(uses("a"));
    const waiting = Array.from({ length: 1100 }, () => engine.turns.take(uses("a")));
    await handled();
    first.end();
    for (const next of waiting) (await next).end();
    await expect.poll(() => owner.turns.isUsed).toBe(false);
  });
});

describe("a process that is stopped during its turn", () => {
  let network: Network;
  let stopped: RemoteEngine;
  beforeEach(async () => {
    network = await startNetwork(owner.path);
    stopped = await connectTo(network);
  });
  afterEach(async () => {
    await stopped.close();
    await network.close();
  });

  it("loses it after a second, and those that it awaits, which it asks for again", async () => {
    const turn = await stopped.turns.take(uses("a"));
    const awaited = [begin(stopped.turns, "stopped"), begin(stopped.turns, "stopped")];
    await stopped.get(keys("a")[0]!);
    network.stop();
    // In the line after all of these. It begins although none of them is ended by its process.
    const waiting = begin(other.turns, "other");
    await handled();
    while (begun.length === 0) {
      vi.advanceTimersByTime(longestTurn);
      await nextTurn();
    }
    const next = await waiting;
    expect(begun).toEqual(["other"]);
    network.resume();
    await stopped.get(keys("a")[0]!);
    next.end();
    turn.end();
    for (const late of awaited) (await late).end();
    expect(begun).toEqual(["other", "stopped", "stopped"]);
    await expect.poll(() => owner.turns.isUsed).toBe(false);
  });
});

describe("an owner of an earlier version", () => {
  it("is not asked for turns: the calls of one process take them, and no commit is postponed", async () => {
    owner.restart(false);
    await handled();
    const turn = await begin(engine.turns, "engine");
    const waiting = begin(engine.turns, "engine again");
    (await begin(other.turns, "other")).end();
    expect(begun).toEqual(["engine", "other"]);
    expect(await other.commit([write("a", null, 0)])).toEqual([expect.any(String)]);
    turn.end();
    (await waiting).end();
    // The connection is the same, because the owner has understood all messages.
    await handled();
    expect(owner.server.connections).toBe(2);
  });

  it("that follows one with a line ends the wait", async () => {
    const turn = await owner.turns.take(uses("a"));
    const waiting = begin(engine.turns, "engine");
    const commit = engine.commit([write("b", null)]);
    await handled();
    owner.restart(false);
    (await waiting).end();
    expect(await commit).toEqual([expect.any(String)]);
    turn.end();
  });
});
