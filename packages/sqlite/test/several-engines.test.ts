import type { AtomicWrite, Engine, KeyRange } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sqliteEngine } from "../src/index.js";
import { raw } from "./raw-file.js";
import { temporaryFile } from "./temporary-file.js";

let path: string;
let remove: () => Promise<void>;
let first: Engine;
let second: Engine;

beforeEach(async () => {
  ({ path, remove } = await temporaryFile());
  first = await sqliteEngine({ path });
  second = await sqliteEngine({ path });
});

afterEach(async () => {
  await first.close();
  await second.close();
  await remove();
});

const key = (name: number) => Uint8Array.of(0x02, 0x61, name, 0x00);
const all: KeyRange = { start: key(0), end: key(255) };

function set(keys: readonly Uint8Array[], options?: Partial<AtomicWrite>): AtomicWrite {
  const value = Uint8Array.of(1);
  const mutations = keys.map((each) => ({ type: "set", key: each, value }) as const);
  return { checks: [], mutations, sync: false, ...options };
}

async function commit(engine: Engine, write: AtomicWrite): Promise<string | null> {
  const [outcome] = await engine.commit([write]);
  if (outcome instanceof Error) throw outcome;
  return outcome!;
}

describe("several engines on one file", () => {
  it("find the commits of each other in range checks", async () => {
    const view = await second.openView!();
    const { versionstamp } = view;
    view.close();
    const rangeChecks = [{ range: all, versionstamp: versionstamp! }];
    expect(await commit(second, set([key(1)], { rangeChecks: [] }))).not.toBeNull();
    await commit(first, set([key(2)]));
    expect(await commit(second, set([key(3)], { rangeChecks }))).toBeNull();
    // Another range has not changed.
    const range = { start: key(100), end: key(200) };
    const others = [{ range, versionstamp: versionstamp! }];
    expect(await commit(second, set([key(3)], { rangeChecks: others }))).not.toBeNull();
  });

  it("do not count the removal of an expired entry as a change", async () => {
    const expireAt = Date.now() - 1000;
    const expired = { type: "set", key: key(1), value: Uint8Array.of(1), expireAt } as const;
    await commit(first, { checks: [], mutations: [expired], sync: false });
    await commit(second, set([key(200)]));
    const view = await second.openView!();
    const { versionstamp } = view;
    view.close();
    const removal = { type: "deleteExpired", key: key(1) } as const;
    await commit(first, { checks: [], mutations: [removal], sync: false });
    const rangeChecks = [{ range: { start: key(0), end: key(9) }, versionstamp: versionstamp! }];
    expect(await commit(second, set([key(3)], { rangeChecks }))).not.toBeNull();
  });

  it("refuse a range check, and read all again, if rows of commits are missing", async () => {
    const view = await second.openView!();
    const { versionstamp } = view;
    view.close();
    const check = { key: key(1), versionstamp: null };
    expect(await commit(second, set([key(9)], { checks: [check] }))).not.toBeNull();
    const reported: unknown[] = [];
    // The second one does not look for commits until it commits itself.
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    second.watchRanges([all], (keys) => reported.push(keys));
    const since = second.lastVersionstamp!;
    for (let n = 0; n < 1100; n++) await commit(first, set([key(n % 8)]));
    vi.useRealTimers();
    const range = { start: key(100), end: key(200) };
    const rangeChecks = [{ range, versionstamp: since }];
    expect(await commit(second, set([key(3)], { rangeChecks }))).toBeNull();
    // What an earlier check has read is not believed any more.
    expect(await commit(second, set([key(9)], { checks: [check] }))).toBeNull();
    expect(reported).toContain(undefined);
    const [[rows]] = (await raw(path, "SELECT count(*) FROM commits")) as [[number]];
    expect(rows).toBeLessThan(1100);
    expect(versionstamp).toBeDefined();
  });

  it("keep no more than some megabytes of changed keys, and none of a very large group", async () => {
    const large = Array.from({ length: 30 }, (_, i) =>
      Uint8Array.of(0x02, ...Array(30_000).fill(i + 1), 0),
    );
    const since = second.lastVersionstamp!;
    for (let n = 0; n < 60; n++) await commit(first, set(large));
    const [[bytes]] = (await raw(path, "SELECT sum(length(keys)) FROM commits")) as [[number]];
    expect(bytes).toBeLessThan(50_000_000);
    await commit(
      first,
      set([...large, ...large.map((each) => Uint8Array.of(...each.slice(0, -1), 0xfe, 0))]),
    );
    const [[last]] = (await raw(
      path,
      "SELECT length(keys) FROM commits ORDER BY sequence DESC LIMIT 1",
    )) as [[number]];
    expect(last).toBe(1);
    const rangeChecks = [{ range: { start: key(100), end: key(200) }, versionstamp: since }];
    expect(await commit(second, set([key(3)], { rangeChecks }))).toBeNull();
  });

  it("see a new state in lastVersionstamp as soon as the other has committed", async () => {
    const before = second.lastVersionstamp;
    const stamp = await commit(first, set([key(1)]));
    expect(second.lastVersionstamp).toBe(stamp);
    expect(before).not.toBe(stamp);
  });
});
