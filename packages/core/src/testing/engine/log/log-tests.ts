import assert from "node:assert/strict";
import { InvalidOptionError } from "../../../errors/core-errors.js";
import { LogOffError, LogTruncatedError } from "../../../errors/log-errors.js";
import { encodeKey } from "../../../keys/encode-key.js";
import type { KvKey } from "../../../keys/key.js";
import type { EmbeddedKv } from "../../../kv/embedded-kv.js";
import type { KvChange, KvChangesOptions, KvLoggedCommit } from "../../../kv/log/read-changes.js";
import { openKv } from "../../../kv/open-kv.js";
import { KvU64 } from "../../../values/kv-u64.js";
import { until } from "../../soon.js";
import type { EngineTestGroup } from "../engine-adapter.js";

const week = { keep: "7 days" } as const;

export const logTests: EngineTestGroup = {
  name: "the log",
  define(addTest) {
    const test: typeof addTest = (name, body) => addTest(name, body, "log");

    test("has what each commit changed, with the values before and after", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp: first } = await kv.set(["a"], 1);
      const { versionstamp: second } = await kv.set(["a"], { two: 2 });
      await kv.delete(["absent"]);
      await kv
        .atomic()
        .delete(["a"])
        .set(["b"], new Map([[1, 2]]))
        .commit();
      const [one, two, three, ...others] = await commitsOf(kv);
      const before = { value: 1, versionstamp: first };
      const after = { value: { two: 2 }, versionstamp: second };
      assert.deepEqual(one?.changes, [{ type: "set", key: ["a"], before: null, after: before }]);
      assert.equal(one?.versionstamp, first);
      assert.deepEqual(two?.changes, [{ type: "set", key: ["a"], before, after }]);
      const { versionstamp } = await kv.get(["b"]);
      assert.deepEqual(three?.changes, [
        { type: "delete", key: ["a"], before: after, after: null },
        set(["b"], { value: new Map([[1, 2]]), versionstamp }),
      ]);
      assert.deepEqual(others, []);
      assert.ok(Math.abs(one.time.getTime() - Date.now()) < 60_000);
    });

    test("has what was said about a commit", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      const context = { actor: "ada", reason: new Map([["ticket", 7]]) };
      const operation = kv.atomic().set(["a"], 2).context!("replaced").context!(context);
      context.actor = "changed later";
      await operation.commit();
      await kv.atomic().context!(null).delete(["a"]).commit();
      const said = (await commitsOf(kv)).map((commit) => commit.context);
      const copy = { actor: "ada", reason: new Map([["ticket", 7]]) };
      assert.deepEqual(said, [undefined, copy, null]);
    });

    test("has the key that ends in the versionstamp, and one change of each key", async (store) => {
      const kv = await openKv(store.engine, { log: week });
      const stamp = kv.commitVersionstamp();
      await kv.atomic().set(["a"], 1).set(["a", stamp], 2).delete(["a"]).set(["a"], 3).commit();
      const [commit] = await commitsOf(kv);
      const { versionstamp } = await kv.get(["a"]);
      assert.deepEqual(commit?.changes, [
        set(["a"], { value: 3, versionstamp }),
        set(["a", versionstamp!], { value: 2, versionstamp }),
      ]);
    });

    test("has nothing of a commit that was refused", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      const refused = kv
        .atomic()
        .check({ key: ["a"], versionstamp: null })
        .set(["a"], 2);
      assert.equal((await refused.commit()).ok, false);
      await assert.rejects(kv.atomic().set(["b"], 1).sum(["a"], 1n).commit());
      assert.deepEqual((await commitsOf(kv)).length, 1);
    });

    test("begins after a versionstamp, and with a prefix", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a", 1], 1);
      const { versionstamp: after } = await kv.set(["b", 1], 1);
      await kv.set(["b", 2], 1);
      await kv.atomic().set(["a", 2], 1).set(["c", 1], 1).commit();
      const keys = async (options: KvChangesOptions) =>
        (await commitsOf(kv, options)).map(({ changes }) => changes.map(({ key }) => key.join()));
      assert.deepEqual(await keys({ after }), [["b,2"], ["a,2", "c,1"]]);
      assert.deepEqual(await keys({ after, prefix: ["a"] }), [["a,2"]]);
      assert.deepEqual(await keys({ prefix: ["b"] }), [["b,1"], ["b,2"]]);
    });

    test("refuses to begin after a versionstamp that no commit has", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp: first } = await kv.set(["a"], 1);
      // It changes nothing, so the log does not have it.
      const deleted = await kv.atomic().delete(["absent"]).commit();
      assert.ok(deleted.ok);
      const view = await kv.openView();
      const { versionstamp } = view ?? {};
      view?.close();
      for (const after of [first, deleted.versionstamp, versionstamp])
        if (after !== undefined) assert.deepEqual(await commitsOf(kv, { after }), []);
      if (versionstamp === undefined) return;
      const after = first.replace(/^.{16}/, "0000000010000000");
      await assert.rejects(commitsOf(kv, { after }), LogTruncatedError);
      await assert.rejects(kv.changes({ after }).next(), LogTruncatedError);
    });

    test("is read backwards, as far as it was asked for", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const written: string[] = [];
      for (let n = 0; n < 450; n++) written.push((await kv.set([n % 2, n], n)).versionstamp);
      const stamps = async (options: KvChangesOptions) =>
        (await commitsOf(kv, { reverse: true, ...options })).map((each) => each.versionstamp);
      assert.deepEqual(await stamps({}), [...written].reverse());
      const [after, before] = [written[9], written[420]];
      assert.deepEqual(await stamps({ after, before }), written.slice(10, 420).reverse());
      const odd = written.filter((_, n) => n % 2 === 1).reverse();
      assert.deepEqual(await stamps({ prefix: [1] }), odd);
      assert.deepEqual(await stamps({ before: written[0] }), []);
      await assert.rejects(commitsOf(kv, { before }), InvalidOptionError);
      await openKv(engine, { log: false });
      await assert.rejects(stamps({}), LogOffError);
    });

    test("is followed while commits come, each whole and in order", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const ending = new AbortController();
      const seen: KvLoggedCommit[] = [];
      const following = (async () => {
        for await (const commit of kv.changes({ signal: ending.signal })) {
          seen.push(commit);
          if (seen.length === 30) ending.abort(new Error("enough"));
        }
      })();
      const versionstamps: string[] = [];
      for (let n = 0; n < 30; n++) {
        const result = await kv.atomic().set(["a", n], n).set(["b", n], n).commit();
        if (result.ok) versionstamps.push(result.versionstamp);
      }
      await assert.rejects(following, /enough/);
      assert.deepEqual(
        seen.map(({ versionstamp }) => versionstamp),
        versionstamps,
      );
      assert.ok(seen.every(({ changes }) => changes.length === 2));
    });

    test("rebuilds the database, whatever many writers do at the same time", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await Promise.all(Array.from({ length: 8 }, (_, seed) => writeAtRandom(kv, seed, 25)));
      const replica = replay(await commitsOf(kv));
      for await (const { key, value, versionstamp } of kv.list({ prefix: [] })) {
        const stored = replica.get(key.join());
        assert.deepEqual(stored?.value, value, key.join());
        if (!(value instanceof KvU64)) assert.equal(stored?.versionstamp, versionstamp);
        replica.delete(key.join());
      }
      assert.deepEqual([...replica.keys()], []);
    });

    test("has the removal of an entry that has expired", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp } = await kv.set(["a"], 1, { expireIn: 60_000 });
      const { expireAt } = (await engine.getMany([keyOfA]))[0]!;
      const [commit] = await commitsOf(kv);
      assert.deepEqual(commit?.changes, [set(["a"], { value: 1, versionstamp, expireAt })]);
    });

    test("is off before it was asked for, and after it was ended", async ({ engine, reopen }) => {
      const kv = await openKv(engine);
      await kv.set(["a"], 1);
      await assert.rejects(commitsOf(kv), LogOffError);
      await openKv(engine, { log: week });
      const { versionstamp } = await kv.set(["b"], 1);
      const stayed = await openKv(await reopen());
      assert.deepEqual(
        (await commitsOf(stayed)).map((commit) => commit.versionstamp),
        [versionstamp],
      );
      const last = await reopen();
      const ended = await openKv(last, { log: false });
      await ended.set(["c"], 1);
      await assert.rejects(commitsOf(ended), LogOffError);
      const again = await openKv(last, { log: week });
      await assert.rejects(commitsOf(again, { after: versionstamp }), LogTruncatedError);
      assert.deepEqual(await commitsOf(again), []);
    });

    addTest(
      "begins for all processes at the same commit",
      async ({ engine, openAnother }) => {
        const kv = await openKv(engine);
        const other = await openKv(await openAnother());
        let isOver = false;
        const written: string[] = [];
        const writing = (async () => {
          for (let n = 0; !isOver; n++)
            written.push((await other.set(["a", n % 3], n)).versionstamp);
        })();
        while (written.length < 5) await until(Date.now() + 1);
        await openKv(engine, { log: week });
        const { versionstamp: begun } = await kv.set(["begun"], 1);
        while (written.at(-1)! < begun) await until(Date.now() + 1);
        isOver = true;
        await writing;
        const logged = (await commitsOf(kv)).map(({ versionstamp }) => versionstamp);
        const first = logged[0]!;
        const expected = [...written.filter((each) => each >= first), begun].sort();
        assert.deepEqual(logged, expected);
        assert.ok(first <= begun);
      },
      "sharedLog",
    );

    addTest(
      "refuses a commit with checks a few times if another process has begun or ended it",
      async ({ engine, openAnother }) => {
        const kv = await openKv(engine);
        const other = await openKv(await openAnother());
        const attempts = async () => {
          for (let n = 1; n < 50; n++) {
            const operation = other.atomic().check({ key: ["absent"], versionstamp: null });
            if ((await operation.set(["a"], n).commit()).ok) return n;
            await until(Date.now() + 1);
          }
          return Number.POSITIVE_INFINITY;
        };
        assert.equal(await attempts(), 1);
        await openKv(engine, { log: week });
        assert.ok((await attempts()) < 50);
        assert.equal((await commitsOf(kv)).length, 1);
        await openKv(engine, { log: false });
        assert.ok((await attempts()) < 50);
      },
      "sharedLog",
    );
  },
};

/** The encoded key `["a"]`. */
const keyOfA = encodeKey(["a"]);

async function commitsOf(
  kv: EmbeddedKv,
  options: KvChangesOptions = {},
): Promise<KvLoggedCommit[]> {
  const commits: KvLoggedCommit[] = [];
  for await (const commit of kv.changes({ live: false, ...options })) commits.push(commit);
  return commits;
}

/** Returns the change of a key that had no entry. */
function set(key: KvKey, { value, versionstamp, expireAt }: Stored): object {
  const after = { value, versionstamp, ...(expireAt !== undefined && { expireAt }) };
  return { type: "set", key, before: null, after };
}

interface Stored {
  readonly value: unknown;
  readonly versionstamp: string | null;
  readonly expireAt?: number | undefined;
}

/** Makes commits of all kinds on a few keys, without waiting for those of other writers. */
export async function writeAtRandom(kv: EmbeddedKv, seed: number, commits: number): Promise<void> {
  let state = seed + 1;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let n = 0; n < commits; n++) {
    const operation = kv.atomic();
    for (let i = random(3); i >= 0; i--) {
      const key = ["key", random(6)];
      const kind = random(5);
      if (kind === 0) operation.delete(key);
      else if (kind === 1) operation.sum(["sum", random(2)], BigInt(random(100)));
      else if (kind === 2) operation.max(["max"], BigInt(random(1000)));
      else if (kind === 3) operation.set(["stamped", seed, n, i, kv.commitVersionstamp()], n);
      else operation.set(key, { seed, n });
    }
    await operation.commit();
  }
}

/** Returns the entries after all commits. Verifies that each change begins with what was there. */
function replay(commits: readonly KvLoggedCommit[]): Map<string, Stored> {
  const entries = new Map<string, Stored>();
  for (const { changes, versionstamp } of commits) {
    for (const change of changes) {
      const name = change.key.join();
      const before = entries.get(name);
      if (change.operand === undefined) {
        assert.deepEqual(change.before, before ?? null, name);
        if (change.after === null) entries.delete(name);
        else entries.set(name, change.after);
      } else {
        entries.set(name, { value: combined(change, before), versionstamp });
      }
    }
  }
  return entries;
}

function combined({ type, operand }: KvChange, before: Stored | undefined): KvU64 {
  const value = operand!.value;
  if (before === undefined) return new KvU64(value);
  const stored = (before.value as KvU64).value;
  if (type === "sum") return new KvU64(BigInt.asUintN(64, stored + value));
  const isLater = type === "min" ? value < stored : value > stored;
  return new KvU64(isLater ? value : stored);
}
