import { type EmbeddedKv, type KvCommitResult, KvU64, openKv } from "@keywright/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer, newTable } from "../server/shared-server.js";

const keys = ["a", "b", "c", "d", "e"];
const types = ["set", "text", "delete", "sum", "sum", "sum", "min", "max", "stamped"] as const;

interface Commit {
  /** Checks of keys: with the versionstamp that was read last, or for absence. */
  readonly checks: readonly { readonly key: string; readonly absent: boolean }[];
  /** The first and the last key of a range that has not changed since before the group. */
  readonly range: readonly [string, string] | undefined;
  readonly changes: readonly { readonly type: (typeof types)[number]; readonly key: string }[];
}

const key = fc.constantFrom(...keys);
const commits: fc.Arbitrary<Commit> = fc.record({
  checks: fc.array(fc.record({ key, absent: fc.boolean() }), { maxLength: 2 }),
  range: fc.option(fc.tuple(key, key), { nil: undefined, freq: 2 }),
  changes: fc.array(fc.record({ type: fc.constantFrom(...types), key }), { maxLength: 4 }),
});
const groups = fc.array(fc.array(commits, { minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 4,
});

describeOnServer("commits of one group", () => {
  it("have the outcomes that they have in memory, whatever they share", async () => {
    await using postgres = await openKv(await postgresEngine(newTable()));
    let runs = 0;
    const run = fc.asyncProperty(groups, async (all) => {
      await using memory = await openKv();
      const prefix = `run ${runs++}`;
      for (const group of all) {
        const expected = await outcomesOf(memory, prefix, group);
        expect(await outcomesOf(postgres, prefix, group)).toEqual(expected);
        expect(await stateOf(postgres, prefix)).toEqual(await stateOf(memory, prefix));
      }
    });
    await fc.assert(run, { numRuns: 150 });
  });

  it("see each other if each one depends on the one before", async () => {
    await using kv = await openKv(await postgresEngine(newTable()));
    // Each sum finds what the set before it has stored.
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) => {
        const atomic = kv.atomic().check({ key: ["never"], versionstamp: null });
        return (i % 2 ? atomic.sum(["n"], 1n) : atomic.set(["n"], new KvU64(BigInt(i)))).commit();
      }),
    );
    expect(results.every(({ status }) => status === "fulfilled")).toBe(true);
    expect((await kv.get<KvU64>(["n"])).value?.value).toBe(199n);
    const first = await kv.get(["n"]);
    const replaced = await Promise.all(
      Array.from({ length: 100 }, (_, i) => kv.atomic().check(first).set(["n"], i).commit()),
    );
    expect(replaced.map(({ ok }) => ok)).toEqual(Array.from({ length: 100 }, (_, i) => i === 0));
  });

  it("get a versionstamp that no key of the group ends in already", async () => {
    await using kv = await openKv(await postgresEngine(newTable()));
    const first = (await kv.set(["first"], 1)).versionstamp;
    // The keys of the next groups, if each one had the number after that of the one before.
    const guesses = [1n, 2n].map((n) =>
      ((BigInt(`0x${first}`) >> 16n) + n).toString(16).padStart(16, "0").concat("0000"),
    );
    await Promise.all([
      kv.set(["log", kv.commitVersionstamp()], "stamped"),
      ...guesses.map((guess) => kv.set(["log", guess], "guessed")),
    ]);
    const values = [];
    for await (const { value } of kv.list({ prefix: ["log"] })) values.push(value);
    expect(values.sort()).toEqual(["guessed", "guessed", "stamped"]);
  });

  it("add to a counter exactly, over the whole range of numbers", async () => {
    await using kv = await openKv(await postgresEngine(newTable()));
    const max = 2n ** 64n - 1n;
    const sum = (n: bigint) => kv.atomic().sum(["n"], n).commit();
    await Promise.all([sum(max), sum(max), sum(max)]);
    expect((await kv.get<KvU64>(["n"])).value?.value).toBe(max - 2n);
    await Promise.all([sum(2n ** 63n), sum(5n)]);
    expect((await kv.get<KvU64>(["n"])).value?.value).toBe(2n ** 63n + 2n);
  });
});

/** Makes all commits of a group at once. */
async function outcomesOf(
  kv: EmbeddedKv,
  prefix: string,
  group: readonly Commit[],
): Promise<unknown[]> {
  const entries = await kv.getMany(keys.map((each) => [prefix, each]));
  const stamps = new Map(keys.map((each, index) => [each, entries[index]!.versionstamp]));
  const view = await kv.openView();
  const since = view!.versionstamp!;
  view!.close();
  const results = await Promise.allSettled(
    group.map(({ checks, range, changes }, index) => {
      const atomic = kv.atomic();
      if (range !== undefined) {
        const [start, end] = [...range].sort();
        atomic.checkRange!({ start: [prefix, start!], end: [prefix, end!, "z"] }, since);
      }
      for (const { key, absent } of checks) {
        atomic.check({ key: [prefix, key], versionstamp: absent ? null : stamps.get(key)! });
      }
      for (const { type, key } of changes) {
        const at = [prefix, key];
        const n = BigInt(index);
        if (type === "set") atomic.set(at, new KvU64(n));
        else if (type === "text") atomic.set(at, `text ${index}`);
        else if (type === "delete") atomic.delete(at);
        else if (type === "sum") atomic.sum(at, n);
        else if (type === "min") atomic.min(at, n);
        else if (type === "max") atomic.max(at, n);
        else atomic.set([prefix, key, kv.commitVersionstamp()], index);
      }
      return atomic.commit();
    }),
  );
  const applied = results
    .map((result) => (result.status === "fulfilled" ? (result.value as KvCommitResult) : undefined))
    .filter((result) => result?.ok);
  expect(new Set(applied.map((result) => result!.versionstamp)).size).toBe(applied.length);
  return results.map((result) =>
    result.status === "fulfilled" ? result.value.ok : (result.reason as { code: string }).code,
  );
}

async function stateOf(kv: EmbeddedKv, prefix: string): Promise<unknown[]> {
  const entries = [];
  for await (const entry of kv.list({ prefix: [prefix] })) entries.push(entry);
  const stamps = [...new Set(entries.map(({ versionstamp }) => versionstamp))].sort();
  const order = (stamp: unknown) => stamps.indexOf(String(stamp));
  // The order of the versionstamps, which is that of the commits.
  return entries.map(({ key, value, versionstamp }) => [
    key.map((part, i) => (i === 2 ? order(part) : part)),
    value,
    order(versionstamp),
  ]);
}
