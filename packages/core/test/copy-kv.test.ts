import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { bytesToHex } from "../src/bytes/hex.js";
import {
  CopyFailedError,
  CopyUnreadableError,
  DatabaseChangedError,
} from "../src/errors/copy-errors.js";
import { DatabaseClosedError } from "../src/errors/core-errors.js";
import { compareKeys } from "../src/keys/compare-keys.js";
import { encodeKey } from "../src/keys/encode-key.js";
import type { KvKey, KvKeyPart } from "../src/keys/key.js";
import type { KvListSelector } from "../src/keys/key-range.js";
import type { AtomicOperation } from "../src/kv/atomic-operation.js";
import { entriesInCommitOrder } from "../src/kv/copy/commit-order.js";
import { copyKv } from "../src/kv/copy/copy-kv.js";
import type { CopyProgress } from "../src/kv/copy/copy-options.js";
import { listSnapshot } from "../src/kv/copy/list-snapshot.js";
import type { Kv, KvEntry } from "../src/kv/kv.js";
import { openKv } from "../src/kv/open-kv.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { contentDifference, entriesOf, fillWithEverything, progressKey } from "./copied-content.js";
import { key as anyKey } from "./key-arbitrary.js";
import { withFolder } from "./temporary-folder.js";

class Crash extends Error {}

/** What an atomic operation was given, as the database's interface shows it. */
interface SeenCommit {
  readonly sets: KvKey[];
  wasApplied: boolean;
}

interface Interference {
  /** Called with the number of the commit, from 1 on, before it. */
  readonly before?: (commit: number, seen: SeenCommit) => void | Promise<void>;
  /** The same after it. */
  readonly after?: (commit: number) => void | Promise<void>;
}

/**
 * A database that shows its commits. It has only Deno KV's interface, so it does not report limits.
 */
function watchedKv(
  kv: Kv,
  { before, after }: Interference = {},
): { kv: Kv; commits: SeenCommit[] } {
  const commits: SeenCommit[] = [];
  const watched = (operation: AtomicOperation): AtomicOperation => {
    const seen: SeenCommit = { sets: [], wasApplied: false };
    const set = operation.set.bind(operation);
    operation.set = (key, value, options) => {
      seen.sets.push(key as KvKey);
      return set(key, value, options);
    };
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      commits.push(seen);
      const number = commits.length;
      await before?.(number, seen);
      const result = await commit();
      seen.wasApplied = result.ok;
      await after?.(number);
      return result;
    };
    return operation;
  };
  const proxy = new Proxy(kv, {
    get(target, property) {
      if (property === "limits") return undefined;
      if (property === "atomic") return () => watched(target.atomic());
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { kv: proxy, commits };
}

/**
 * The same database without views, as Deno KV is.
 *
 * @param listing is called with the entries of each list, and returns those to list.
 */
function withoutViews(
  kv: Kv,
  listing: (entries: AsyncIterable<KvEntry<unknown>>) => AsyncIterable<KvEntry<unknown>> = (
    entries,
  ) => entries,
): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "openView") return undefined;
      if (property === "list") {
        // One entry at a time, so that changes come between any two.
        return (selector: KvListSelector) => listing(target.list(selector, { batchSize: 1 }));
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

const oneVersionstamp = "0".repeat(20);

/** A database that has these entries. */
function listing(kv: Kv, entries: () => readonly KvEntry<unknown>[]): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "getMany") {
        return async (keys: readonly KvKey[]) =>
          keys.map((key) => entries().find((entry) => compareKeys(entry.key, key) === 0));
      }
      if (property === "openView") return undefined;
      if (property === "list") {
        return async function* () {
          yield* entries();
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

const denoLimits = {
  keyBytes: 2048,
  valueBytes: 65_536,
  checks: 10,
  mutations: 1000,
  totalMutationBytes: 819_200,
  totalKeyBytes: 81_920,
};

/** Six entries to a commit. */
const smallCommits = { limits: { mutations: 8 } } as const;

/** Makes all entries with one commit. */
async function fill(
  kv: Kv,
  count: number,
  makeValue: (n: number) => unknown = (n) => n,
  prefix: KvKey = ["n"],
): Promise<void> {
  const operation = kv.atomic();
  for (let n = 0; n < count; n++) operation.set([...prefix, n], makeValue(n));
  await operation.commit();
}

/** Asserts that the versionstamps of the same keys have the same order. */
async function assertSameOrder(actual: Kv, expected: Kv): Promise<void> {
  const hexOf = ({ key }: KvEntry<unknown>) => bytesToHex(encodeKey(key));
  const copies = new Map((await entriesOf(actual)).map((copy) => [hexOf(copy), copy.versionstamp]));
  const pairs = (await entriesOf(expected)).map((entry): [string, string] => [
    entry.versionstamp,
    copies.get(hexOf(entry))!,
  ]);
  pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [i, [stamp, copied]] of pairs.entries()) {
    const [earlier, earlierCopied] = pairs[i - 1] ?? ["", ""];
    if (stamp !== earlier) expect(copied > earlierCopied).toBe(true);
  }
}

async function assertSame(actual: Kv, expected: Kv): Promise<void> {
  expect(await contentDifference(actual, expected)).toBeUndefined();
}

describe("copyKv of another source than before", () => {
  it("is refused until it is to restart", async () => {
    const [first, second, to] = [await openKv(), await openKv(), await openKv()];
    await fill(first, 50);
    await fill(second, 60);
    await second.set(["n", 0], "another commit");
    const stop = new Error("stop");
    const onProgress = () => {
      throw stop;
    };
    await expect(copyKv(first, to, { onProgress })).rejects.toBe(stop);
    await expect(copyKv(second, to)).rejects.toMatchObject({ code: "KW_COPY_FAILED" });
    expect(await copyKv(second, to, { restart: true })).toMatchObject({ entries: 60 });
    await assertSame(to, second);
  });
});

describe("copyKv of entries beside its own progress", () => {
  it("copies them", async () => {
    const [from, to] = [await openKv(), await openKv()];
    await from.set(["__keywright", "copy", "mine"], 1);
    await copyKv(from, to);
    expect((await to.get(["__keywright", "copy", "mine"])).value).toBe(1);
  });
});

describe("copyKv of a database into itself", () => {
  it("refuses two handles of one database", () =>
    withFolder(async (folder) => {
      const from = await openKv(folder);
      const to = await openKv(folder);
      try {
        await from.set(["a"], 1);
        const refused = { code: "KW_OPTION_INVALID", option: "to" };
        await expect(copyKv(from, to)).rejects.toMatchObject(refused);
        const { versionstamp } = await from.get(progressKey);
        expect(versionstamp).toBeNull();
      } finally {
        await to.close();
        await from.close();
      }
    }));

  it("is refused", async () => {
    const kv = await openKv();
    await expect(copyKv(kv, kv)).rejects.toMatchObject({ code: "KW_OPTION_INVALID", option: "to" });
    await kv.close();
  });
});

describe("copyKv", () => {
  it("copies keys and values of every kind to disk and back", async () => {
    await withFolder(async (folder) => {
      const from = await openKv();
      const disk = await openKv(folder, { durability: "relaxed" });
      try {
        const entries = await fillWithEverything(from);
        expect(await copyKv(from, disk)).toMatchObject({ entries, resumed: false });
        await assertSame(disk, from);
        const back = await openKv();
        expect(await copyKv(disk, back)).toMatchObject({ entries, resumed: false });
        await assertSame(back, from);
      } finally {
        await disk.close();
      }
    });
  });

  it("copies between databases that order their keys differently", async () => {
    const from = await openKv();
    await fillWithEverything(from);
    const deno = await openKv(":memory:", { compat: "deno" });
    await copyKv(from, deno);
    const back = await openKv();
    await copyKv(deno, back);
    await assertSame(back, from);
  });

  it("copies an empty database", async () => {
    const to = await openKv();
    expect(await copyKv(await openKv(), to)).toEqual({
      entries: 0,
      bytes: 0,
      total: 0,
      verified: 0,
      messages: 0,
      resumed: false,
    });
    expect(await entriesOf(to)).toEqual([]);
  });

  it("leaves the target's other entries, and replaces those under the same keys", async () => {
    const [from, to] = [await openKv(), await openKv()];
    await from.set(["same"], "new");
    await to.set(["same"], "old");
    await to.set(["same", "number"], new KvU64(5n));
    await from.set(["same", "number"], new KvU64(7n));
    await to.set(["other"], "kept");
    await copyKv(from, to);
    expect((await to.get(["same"])).value).toBe("new");
    expect((await to.get(["same", "number"])).value).toEqual(new KvU64(7n));
    expect((await to.get(["other"])).value).toBe("kept");
  });

  it("tells its progress after each commit", async () => {
    const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
    await fill(from, 20);
    const told: CopyProgress[] = [];
    const result = await copyKv(from, to, { onProgress: (progress) => told.push(progress) });
    expect(told.map(({ entries }) => entries)).toEqual([6, 12, 18, 20]);
    expect(told.at(-1)).toMatchObject({ ...result, phase: "copying", done: 20 });
    expect(told.map(({ bytes }) => bytes)).toEqual(
      [6, 12, 18, 20].map((n) => (n * result.bytes) / 20),
    );
    expect(result.bytes).toBeGreaterThan(20 * 10);
  });

  it.each([undefined, "deno"] as const)(
    "copies the state at its beginning while programs write, compat: %s",
    async (compat) => {
      const [from, to] = [
        await openKv(":memory:", compat === undefined ? {} : { compat }),
        await openKv(":memory:", smallCommits),
      ];
      await fill(from, 300);
      const before = await openKv();
      await copyKv(from, before);
      const change = async (commit: number) => {
        await from.set(["n", (commit * 50) % 300], `changed ${commit}`);
        await from.delete(["n", (commit * 50 + 7) % 300]);
        await from.set(["n", 300 + commit], "new");
      };
      const { kv, commits } = watchedKv(to, { after: change });
      const result = await copyKv(from, withLimits(kv, 8), { verify: true });
      expect(result).toMatchObject({ entries: 300, total: 300, verified: 300 });
      expect(commits.length).toBeGreaterThan(50);
      await assertSame(to, before);
      await assertSameOrder(to, before);
    },
  );

  it("keeps entries of one commit together when they expire during the copy", async () => {
    const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
    await fill(from, 40);
    const expireIn = 100_000;
    await from.atomic().set(["a"], 1, { expireIn }).set(["z"], 2, { expireIn }).commit();
    const now = Date.now();
    const { kv } = watchedKv(to, {
      // After the first commit of entries, the time of both has passed.
      after: (commit) => {
        if (commit === 3) vi.spyOn(Date, "now").mockReturnValue(now + 200_000);
      },
    });
    try {
      const result = await copyKv(from, withLimits(kv, 8), { verify: true });
      expect(result).toMatchObject({ entries: 40, total: 40, verified: 42 });
    } finally {
      vi.restoreAllMocks();
    }
    expect((await to.get(["a"])).value).toBeNull();
    expect((await to.get(["z"])).value).toBeNull();
  });
});

describe("a source without views", () => {
  const fillSource = async (): Promise<{ from: Kv; to: Kv; source: Kv }> => {
    const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
    for (let n = 0; n < 100; n++) await from.set(["n", n], n);
    return { from, to, source: withoutViews(from) };
  };

  it("is copied and compared if nothing changes", async () => {
    const { from, to, source } = await fillSource();
    await from.set(["expires"], 1, { expireIn: 100_000 });
    expect(await copyKv(source, to)).toMatchObject({ entries: 101, verified: 101 });
    await assertSame(to, from);
  });

  it.each<[string, (from: Kv) => Promise<unknown>]>([
    ["changed", (from) => from.set(["n", 50], "changed")],
    ["created", (from) => from.set(["n", 50.5], "new")],
    ["deleted", (from) => from.delete(["n", 50])],
    ["created, to expire,", (from) => from.set(["n", 50.5], "new", { expireIn: 100_000 })],
    ["replaced by another", (from) => from.atomic().delete(["n", 3]).set(["m"], 3).commit()],
  ])("fails the copy if an entry is %s at any moment", async (_, change) => {
    for (const at of [1, 2, 3, 10, 60, 100, "first list", "last list"] as const) {
      const { from, to } = await fillSource();
      const isDone = { value: false };
      const changeOnce = async () => {
        if (isDone.value) return;
        isDone.value = true;
        await change(from);
      };
      let lists = 0;
      const source = withoutViews(from, async function* (entries) {
        lists++;
        let count = 0;
        for await (const entry of entries) {
          yield entry;
          // The first list has passed the places of the changes, the last one has not.
          const isPlace = lists === 1 ? ++count === 60 : ++count === 2;
          if (isPlace && at === (lists === 1 ? "first list" : "last list")) await changeOnce();
        }
      });
      const { kv } = watchedKv(to, {
        after: async (commit) => {
          if (commit === at) await changeOnce();
        },
      });
      const error = await copyKv(source, withLimits(kv, 8)).catch((thrown: unknown) => thrown);
      expect(isDone.value).toBe(true);
      if (at === 1 || at === 2) {
        // Nothing was listed yet.
        expect(error).toMatchObject({ verified: expect.any(Number) });
        await assertSame(to, from);
        continue;
      }
      expect([at, (error as Error).name]).toEqual([at, "DatabaseChangedError"]);
      // The next call copies what has changed, unless it cannot know what was deleted.
      const next = await copyKv(source, withLimits(to, 8)).catch((thrown: unknown) => thrown);
      if (next instanceof Error) expect(next).toMatchObject({ code: "KW_COPY_FAILED" });
      else await assertSame(to, from);
    }
  });

  it("may have entries that expire during the copy, if it is told which", async () => {
    const { from, to } = await fillSource();
    await from.set(["session"], 1);
    const { kv } = watchedKv(to, {
      after: async (commit) => {
        if (commit === 10) await from.delete(["session"]);
      },
    });
    const expireIn = ({ key }: KvEntry<unknown>) => (key[0] === "session" ? 100_000 : undefined);
    const source = withoutViews(from);
    await copyKv(source, withLimits(kv, 8), { expireIn });
    expect((await entriesOf(to)).filter(({ key }) => key[0] === "n")).toHaveLength(100);
  });
});

describe("listSnapshot", () => {
  it("lists one state while programs write", async () => {
    const from = await openKv();
    await fill(from, 1200);
    const values: unknown[] = [];
    for await (const { value } of listSnapshot(from, { prefix: ["n"] })) {
      if (values.length % 100 === 0) {
        await from.set(["n", 1100], "changed");
        await from.delete(["n", 1101 + values.length / 100]);
        await from.set(["n", 2000], "new");
      }
      values.push(value);
    }
    expect(values).toEqual(Array.from({ length: 1200 }, (_, n) => n));
  });

  it("fails at the end if a database without views has changed in the range", async () => {
    const from = await openKv();
    await fill(from, 10);
    const read = async (key: KvKey) => {
      let entries = 0;
      for await (const _ of listSnapshot(withoutViews(from), { prefix: ["n"] }))
        if (++entries === 5) await from.set(key, "changed");
      return entries;
    };
    expect(await read(["other"])).toBe(10);
    const error = await read(["n", 2]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseChangedError);
    expect(error).toMatchObject({ code: "KW_DATABASE_CHANGED", operation: "list" });
  });
});

describe("a copy that stopped is continued", () => {
  for (const compat of [undefined, "deno"] as const) {
    const options = compat === undefined ? {} : { compat };
    for (const moment of ["before", "after"] as const) {
      it(`after a crash ${moment} any of its commits, in the order of ${compat ?? "the specification"}`, async () => {
        const from = await openKv(":memory:", options);
        const entries = await fillWithEverything(from);
        let hasCrashed = true;
        let at = 0;
        while (hasCrashed) {
          at++;
          const to = await openKv(":memory:", smallCommits);
          const crash = (commit: number) => {
            if (commit >= at) throw new Crash();
          };
          const crashing = watchedKv(to, { [moment]: crash });
          hasCrashed = await copyKv(from, withLimits(crashing.kv, 8)).then(
            () => false,
            (error: unknown) => {
              expect(error).toBeInstanceOf(Crash);
              return true;
            },
          );
          if (hasCrashed) {
            const result = await copyKv(from, withLimits(to, 8), { verify: true });
            expect(result).toMatchObject({ entries, total: entries, verified: entries });
          }
          await assertSame(to, from);
          await assertSameOrder(to, from);
        }
        expect(at).toBeGreaterThan(entries);
      });
    }
  }

  it("whatever the keys are and wherever it stopped", async () => {
    const property = fc.asyncProperty(
      fc.array(
        anyKey.filter((key) => key.length > 0),
        { minLength: 1, maxLength: 40 },
      ),
      fc.nat(6),
      fc.constantFrom(undefined, "deno" as const),
      async (keys, at, compat) => {
        const from = await openKv(":memory:", compat === undefined ? {} : { compat });
        const taken = keys.filter((key) => compat === undefined || !key.some(isTooLargeForDeno));
        for (const [index, key] of taken.entries()) await from.set(key, index);
        const to = await openKv(":memory:", smallCommits);
        const stop = () => {
          if (++told > at) throw new Crash();
        };
        let told = 0;
        await copyKv(from, to, { onProgress: stop }).catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
        });
        const result = await copyKv(from, to);
        expect(result.resumed).toBe(told > at);
        await assertSame(to, from);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it("after the last entry that was copied, with what has changed since", async () => {
    const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
    await fill(from, 20);
    await stopAfter(from, to, 2);
    await from.set(["n", 11.5], "between");
    await from.set(["n", 3], "changed behind");
    const { kv, commits } = watchedKv(to);
    expect(await copyKv(from, kv)).toMatchObject({ entries: 21 + 1, resumed: true });
    expect(copiedBy([commits])[0]).toEqual(["n", 12]);
    expect(copiedBy([commits]).slice(-2)).toEqual([
      ["n", 11.5],
      ["n", 3],
    ]);
    await assertSame(to, from);
    await assertSameOrder(to, from);
  });

  it.each([{}, { restart: true }])(
    "unless the source has deleted what was copied: %j",
    async (options) => {
      const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
      await fill(from, 20);
      await to.set(["other"], "stays");
      await stopAfter(from, to, 2);
      await from.delete(["n", 11]);
      // It was not copied.
      await from.delete(["n", 15]);
      const error = await copyKv(from, to, options).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: "KW_COPY_FAILED",
        key: ["n", 11],
        reason: expect.stringMatching(/^the target has 1 entry that an earlier run has copied/),
      });
      await from.set(["n", 11], "again");
      await copyKv(from, to);
      await to.delete(["other"]);
      await assertSame(to, from);
    },
  );

  it("from the first entry with restart", async () => {
    const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
    await fill(from, 20);
    await stopAfter(from, to, 2);
    await from.set(["n", 3], "changed behind");
    expect(await copyKv(from, to, { restart: true })).toMatchObject({
      entries: 20,
      resumed: false,
    });
    await assertSame(to, from);
  });

  it("which a signal stopped, with its reason", async () => {
    const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
    await fill(from, 20);
    const stop = new AbortController();
    const reason = new Crash();
    const { kv, commits } = watchedKv(withLimits(to, 8), {
      before: (commit) => {
        if (commit === 3) stop.abort(reason);
      },
    });
    await expect(copyKv(from, withLimits(kv, 8), { signal: stop.signal })).rejects.toBe(reason);
    expect(commits).toHaveLength(3);
    expect(await copyKv(from, to)).toMatchObject({ entries: 20, resumed: true });
    await assertSame(to, from);
    const { kv: untouched, commits: none } = watchedKv(to);
    await expect(copyKv(from, untouched, { signal: stop.signal })).rejects.toBe(reason);
    expect(none).toEqual([]);
  });

  it("and does not copy the progress that a source has stored for itself", async () => {
    const [first, second, third] = [await openKv(), await openKv(), await openKv()];
    await fill(first, 2000);
    await stopAfter(first, second, 1);
    expect(await entriesOf(second)).toContainEqual(expect.objectContaining({ key: progressKey }));
    await second.set([...progressKey, "u64"], 1);
    const entries = (await entriesOf(second)).length - 2;
    expect(await copyKv(second, third)).toMatchObject({ entries });
    expect(await entriesOf(third)).toHaveLength(entries);
    expect(await copyKv(first, second)).toMatchObject({ entries: 2000, resumed: true });
    await assertSame(second, first);
  });

  it.each([null, 5, {}, { first: "a" }, { first: { key: new Uint8Array([0x99]) } }])(
    "unless the stored progress is unreadable: %j",
    async (progress) => {
      const [from, to] = [await openKv(), await openKv()];
      await fill(from, 3);
      await to.set(progressKey, progress);
      const error = await copyKv(from, to).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CopyFailedError);
      expect(error).toMatchObject({ code: "KW_COPY_FAILED", key: progressKey });
      await copyKv(from, to, { restart: true });
      await assertSame(to, from);
    },
  );

  it.skipIf("Deno" in globalThis)(
    "unless a file of Deno KV is to be read outside Deno",
    async () => {
      await expect(copyKv("kv.sqlite", await openKv())).rejects.toMatchObject({
        code: "KW_OPTION_INVALID",
        option: "from",
      });
    },
  );

  // The first two store the progress, and the seventh and last removes it.
  it.each([3, 7])(
    "unless another one runs into the same database, before commit %d",
    async (at) => {
      const [from, to] = [await openKv(), await openKv(":memory:", smallCommits)];
      await fill(from, 20);
      const { kv } = watchedKv(to, {
        before: async (commit) => {
          if (commit === at) await copyKv(from, to, { restart: true });
        },
      });
      const error = await copyKv(from, withLimits(kv, 8)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CopyFailedError);
      expect(error).toMatchObject({ key: progressKey });
      await assertSame(to, from);
    },
  );
});

describe("a commit of a copy", () => {
  it.each([
    ["small entries", 3000, (): unknown => 1, ["n"]],
    ["large values", 60, (): unknown => new Uint8Array(60_000), ["n"]],
    ["large keys", 200, (): unknown => 1, ["k".repeat(2000)]],
  ] as const)(
    "stays within Deno KV's limits where the target tells none: %s",
    async (_, count, makeValue, prefix) => {
      const from = await openKv();
      await fill(from, count, makeValue, prefix);
      const to = await openKv(":memory:", { limits: denoLimits });
      const { kv, commits } = watchedKv(to);
      await copyKv(from, kv);
      await assertSame(to, from);
      expect(commits.filter(({ wasApplied }) => !wasApplied)).toEqual([]);
      expect(commits.length).toBeLessThan(12);
    },
  );

  it("is made in halves where it is too large all the same", async () => {
    for (const refusal of [
      new TypeError("Too large"),
      Object.assign(new Error("TooManyMutations"), { code: "GenericFailure" }),
    ]) {
      const [from, to] = [await openKv(), await openKv()];
      await fill(from, 50);
      const { kv, commits } = watchedKv(to, {
        before: (_, { sets }) => {
          if (sets.length > 5) throw refusal;
        },
      });
      const told: number[] = [];
      await copyKv(from, kv, { onProgress: ({ entries }) => told.push(entries) });
      await assertSame(to, from);
      expect(copiedBy([commits])).toHaveLength(50);
      expect(told).toEqual([...told].sort((a, b) => a - b));
      expect(told).toHaveLength(16);
      expect(told.at(-1)).toBe(50);
    }
  });

  it("fails with the key of an entry that the target does not take, and what was before it stays", async () => {
    const from = await openKv();
    await fill(from, 20, (n) => (n === 13 ? "x".repeat(1000) : n));
    const to = await openKv(":memory:", { limits: { valueBytes: 500 } });
    const error = await copyKv(from, to).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CopyFailedError);
    expect(error).toMatchObject({
      code: "KW_COPY_FAILED",
      key: ["n", 13],
      cause: { code: "KW_LIMIT_EXCEEDED" },
    });
    expect((await entriesOf(to)).filter(({ key }) => key[0] === "n")).toHaveLength(13);
    await from.set(["n", 13], "short");
    expect(await copyKv(from, to)).toMatchObject({ entries: 20, resumed: true });
    await assertSame(to, from);
  });

  it("fails with the key of an entry that cannot be encoded", async () => {
    const [from, to] = [await openKv(), await openKv()];
    const source = listing(from, () =>
      ["a", () => 1, "c"].map((value, n) => ({ key: [n], value, versionstamp: oneVersionstamp })),
    );
    await expect(copyKv(source, to)).rejects.toMatchObject({
      code: "KW_COPY_FAILED",
      key: [1],
      cause: { code: "KW_VALUE_UNSUPPORTED" },
    });
    expect((await to.get([0])).value).toBe("a");
  });

  it("says where the source has a value that this runtime cannot decode", async () => {
    const [from, to] = [await openKv(), await openKv()];
    await fill(from, 20, (n) => n);
    const failure = new Error(
      "Unable to deserialize cloned data due to invalid or unsupported version.",
    );
    const source = new Proxy(from, {
      get: (target, property) =>
        property === "openView"
          ? undefined
          : property === "list"
            ? async function* () {
                for await (const entry of target.list({ prefix: [] })) {
                  if (entry.key[1] === 13) throw failure;
                  yield entry;
                }
              }
            : (Reflect.get(target, property, target) as (...args: unknown[]) => unknown).bind(
                target,
              ),
    });
    const error = await copyKv(source, to).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CopyUnreadableError);
    expect(error).toMatchObject({ after: ["n", 12], cause: failure });
    expect(await copyKv(from, to)).toMatchObject({ entries: 20 });
    await assertSame(to, from);
  });

  it("is not made again where the target does not work", async () => {
    const [from, to] = [await openKv(), await openKv()];
    await fill(from, 5);
    const failure = new DatabaseClosedError();
    const { kv, commits } = watchedKv(to, {
      before: () => {
        throw failure;
      },
    });
    await expect(copyKv(from, kv)).rejects.toBe(failure);
    expect(commits).toHaveLength(1);
  });
});

describe("the order of commits", () => {
  it.each([undefined, "deno"] as const)("is kept, compat: %s", async (compat) => {
    const from = await openKv();
    const to = await openKv(":memory:", compat === undefined ? {} : { compat });
    for (let n = 0; n < 3000; n++) {
      const key = (n * 7919) % 3001;
      await from.atomic().set(["a", key], n).set(["b", key], n).commit();
    }
    await copyKv(from, to, { verify: true });
    await assertSame(to, from);
    await assertSameOrder(to, from);
  });

  it("is kept by a target that applies commits in another order", async () => {
    const [from, to] = [await openKv(), await openKv()];
    for (let n = 0; n < 50; n++) await from.set(["n", n % 40], n);
    const { kv } = watchedKv(to, {
      before: (_, { sets }) => new Promise((done) => setTimeout(done, 20 - Number(sets[0]?.[1]))),
    });
    await copyKv(from, kv);
    await assertSame(to, from);
    await assertSameOrder(to, from);
  });

  it("needs several passes over a source with many entries", async () => {
    const from = await openKv();
    for (let n = 0; n < 100; n++) await from.set(["n", (n * 37) % 100], n);
    let passes = 0;
    const reads = withoutViews(from, (entries) => {
      passes++;
      return entries;
    });
    const valuesOf = async (onValue: (value: unknown) => unknown) => {
      const values: unknown[] = [];
      const getNewest = (key: KvKey) => from.get(key);
      const source = { reads, listing: undefined, getNewest, close: () => undefined };
      const options = { after: "", placesPerPass: 17 };
      for await (const { value } of entriesInCommitOrder(source, options)) {
        values.push(value);
        await onValue(value);
      }
      return values;
    };
    expect(await valuesOf(() => undefined)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(passes).toBe(6);
    const change = (value: unknown) => value === 40 && from.set(["n", (50 * 37) % 100], "changed");
    await expect(valuesOf(change)).rejects.toBeInstanceOf(DatabaseChangedError);
  });
});

describe("verify", () => {
  it("compares every entry, and fails if some differ", async () => {
    const [from, to] = [await openKv(), await openKv()];
    await fillWithEverything(from);
    await from.set(["expires"], 1, { expireIn: 1_000_000 });
    const told: CopyProgress[] = [];
    const { entries } = await copyKv(from, to, { verify: true, onProgress: (p) => told.push(p) });
    expect(told.at(-1)).toMatchObject({ entries, verified: entries, total: entries });
    let lists = 0;
    const source = new Proxy(from, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (property === "openView") return undefined;
        if (property !== "list") return typeof member === "function" ? member.bind(target) : member;
        return async function* () {
          if (++lists === 2) await to.atomic().delete(["expires"]).set([true], "another").commit();
          yield* target.list({ prefix: [] });
        };
      },
    });
    const error = await copyKv(source, to, { verify: true }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CopyFailedError);
    expect(error).toMatchObject({ key: ["expires"], reason: expect.stringMatching(/^2 entries/) });
    await copyKv(from, to, { verify: true, restart: true });
    await assertSame(to, from);
  });
});

describe("a copied entry", () => {
  it("expires when that of the source does", async () => {
    const [from, to] = [await openKv(), await openKv()];
    await from.set(["stays"], 1);
    await from.set(["expires"], 2, { expireIn: 1_000_000 });
    await from.set(["number"], new KvU64(3n), { expireIn: 2_000_000 });
    await copyKv(from, to);
    expect((await entriesOf(to)).map(({ key }) => key)).toEqual([
      ["expires"],
      ["number"],
      ["stays"],
    ]);
    const [expires, number, stays] = await entriesOf(to);
    const source = await entriesOf(from);
    expect(stays!.expireAt).toBeUndefined();
    for (const [index, copied] of [expires, number].entries()) {
      const late = copied!.expireAt! - source[index]!.expireAt!;
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(60_000);
    }
    expect(number!.value).toEqual(new KvU64(3n));
  });

  it("expires when that of a source with compat does", async () => {
    const [from, to] = [await openKv(undefined, { compat: "deno" }), await openKv()];
    await from.set(["expires"], 1, { expireIn: 1_000_000 });
    const { expireAt } = (await from.get(["expires"])) as KvEntry<unknown>;
    await copyKv(from, to);
    const copied = (await to.get(["expires"])) as KvEntry<unknown>;
    expect(copied.expireAt).toBeGreaterThanOrEqual(expireAt!);
  });

  it("expires when the option says so, whether the source reports it or not", async () => {
    const [from, to] = [await openKv(), await openKv()];
    for (const name of ["gone", "session", "stays"]) await from.set([name], name);
    await from.set(["reported"], 1, { expireIn: 5_000_000 });
    const lifetimes: Record<string, number> = { session: 1_000_000, gone: 0 };
    const now = Date.now();
    const result = await copyKv(from, to, { expireIn: ({ key }) => lifetimes[String(key[0])] });
    expect(result.entries).toBe(3);
    const copied = await entriesOf(to);
    expect(copied.map(({ key }) => key[0])).toEqual(["reported", "session", "stays"]);
    expect(copied[0]!.expireAt! - now).toBeGreaterThan(4_000_000);
    expect(copied[1]!.expireAt! - now - 1_000_000).toBeLessThan(60_000);
    expect(copied[1]!.expireAt! - now).toBeGreaterThanOrEqual(1_000_000);
    expect(copied[2]!.expireAt).toBeUndefined();
  });

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY], ["1"]])(
    "is refused with expireIn %j",
    async (ms) => {
      const [from, to] = [await openKv(), await openKv()];
      await from.set(["a"], 1);
      const options = { expireIn: () => ms as number };
      await expect(copyKv(from, to, options)).rejects.toMatchObject({ option: "expireIn" });
    },
  );

  it("is left out where it has expired", async () => {
    const [from, to] = [await openKv(), await openKv()];
    const now = Date.now();
    const entry = (name: string, expireAt: number) => ({
      key: [name],
      value: 1,
      versionstamp: oneVersionstamp,
      expireAt,
    });
    const source = listing(from, () => [
      entry("gone", now - 1),
      entry("just", now),
      entry("there", now + 1e6),
    ]);
    vi.spyOn(Date, "now").mockReturnValue(now);
    try {
      expect(await copyKv(source, to)).toMatchObject({ entries: 1 });
      expect(await entriesOf(to)).toMatchObject([{ key: ["there"], expireAt: now + 1e6 }]);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it("has a number that the target counts with, whatever class it has in the source", async () => {
    class _KvU64 {
      readonly value: bigint;
      constructor(value: bigint) {
        this.value = value;
      }
    }
    // As `Deno.KvU64` is named.
    const DenoKvU64 = { KvU64: class extends _KvU64 {} }.KvU64;
    const [from, to] = [await openKv(), await openKv()];
    await to.set(["there already"], "text");
    const values = {
      a: new _KvU64(1n),
      b: new DenoKvU64(2n),
      c: new KvU64(3n),
      "there already": new _KvU64(4n),
    };
    const source = listing(from, () =>
      Object.entries(values).map(([name, value]) => ({
        key: [name],
        value,
        versionstamp: oneVersionstamp,
      })),
    );
    expect(await copyKv(source, to)).toMatchObject({ entries: 4 });
    for (const [name, { value }] of Object.entries(values)) {
      await to.atomic().sum([name], 10n).commit();
      expect((await to.get([name])).value).toEqual(new KvU64(value + 10n));
    }
    expect((await entriesOf(to)).map(({ key }) => key).sort(compareKeys)).toHaveLength(4);
  });
});

/** The same database, which tells that it takes so many mutations. */
function withLimits(kv: Kv, mutations: number): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "limits") return { mutations };
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Deno KV takes bigints of 255 bytes. */
function isTooLargeForDeno(part: KvKeyPart): boolean {
  return typeof part === "bigint" && (part >= 1n << 2040n || part <= -(1n << 2040n));
}

/** Copies, and stops after so many commits. */
async function stopAfter(from: Kv, to: Kv, commits: number): Promise<void> {
  let told = 0;
  const onProgress = () => {
    if (++told === commits) throw new Crash();
  };
  await expect(copyKv(from, to, { onProgress })).rejects.toThrow(Crash);
}

/** The keys that applied commits have set, those of the copy itself left out. */
function copiedBy(runs: readonly SeenCommit[][]): KvKey[] {
  return runs
    .flat()
    .filter(({ wasApplied }) => wasApplied)
    .flatMap(({ sets }) => sets)
    .filter((key) => key[0] !== "__keywright");
}
