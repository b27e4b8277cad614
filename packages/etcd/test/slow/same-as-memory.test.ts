import { type EmbeddedKv, type KvCommitResult, KvU64, openKv } from "@keywright/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { collect } from "../server/collect.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

/** Keys of numbers and keys of texts, so that a `sum` of a text is rare. */
const keys = ["a", "b", "c", "d", "e"];

interface Commit {
  /** Checks of keys: with the versionstamp that was read last, or for absence. */
  readonly checks: readonly { readonly key: string; readonly absent: boolean }[];
  readonly changes: readonly { readonly type: "set" | "delete" | "sum" | "text"; key: string }[];
}

const key = fc.constantFrom(...keys);
const commits: fc.Arbitrary<Commit> = fc.record({
  checks: fc.array(fc.record({ key, absent: fc.boolean() }), { maxLength: 2 }),
  changes: fc.array(
    fc.record({ type: fc.constantFrom("set", "delete", "sum", "sum", "text"), key }),
    { maxLength: 3 },
  ) as fc.Arbitrary<Commit["changes"]>,
});

describeEtcd("commits that depend on each other", 1, (cluster) => {
  it("have the outcomes that they have in memory, in any groups", async () => {
    const run = fc.asyncProperty(
      fc.array(fc.array(commits, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
      async (groups) => {
        const { endpoints } = cluster();
        const etcd = await openKv(await etcdEngine({ endpoints, prefix: newPrefix() }));
        const memory = await openKv();
        try {
          for (const group of groups) {
            expect(await outcomesOf(etcd, group)).toEqual(await outcomesOf(memory, group));
            expect(await stateOf(etcd)).toEqual(await stateOf(memory));
          }
        } finally {
          await etcd.close();
          await memory.close();
        }
      },
    );
    await fc.assert(run, { numRuns: 60 });
  });
});

/** Makes all commits of a group at once. */
async function outcomesOf(kv: EmbeddedKv, group: readonly Commit[]): Promise<unknown[]> {
  const entries = await kv.getMany(keys.map((each) => [each]));
  const stamps = new Map(keys.map((each, index) => [each, entries[index]!.versionstamp]));
  const results = await Promise.allSettled(
    group.map(({ checks, changes }, index) => {
      const atomic = kv.atomic();
      for (const { key, absent } of checks) {
        atomic.check({ key: [key], versionstamp: absent ? null : stamps.get(key)! });
      }
      for (const { type, key } of changes) {
        if (type === "set") atomic.set([key], new KvU64(BigInt(index)));
        else if (type === "text") atomic.set([key], `text ${index}`);
        else if (type === "delete") atomic.delete([key]);
        else atomic.sum([key], 1n);
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

async function stateOf(kv: EmbeddedKv): Promise<unknown[]> {
  const entries = await collect(kv.list({ prefix: [] }));
  const stamps = [...new Set(entries.map(({ versionstamp }) => versionstamp))].sort();
  // The order of the versionstamps, which is that of the commits.
  return entries.map(({ key, value, versionstamp }) => [key, value, stamps.indexOf(versionstamp)]);
}
