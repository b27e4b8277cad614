import assert from "node:assert/strict";
import { pid } from "#platform";
import { consumerLeaseKey, consumerPositionKey } from "../../../engine/log/consumer-keys.js";
import { InvalidOptionError } from "../../../errors/core-errors.js";
import {
  ConsumerLostError,
  ConsumerTimeoutError,
  LogOffError,
  LogTruncatedError,
} from "../../../errors/log-errors.js";
import type { KvConsumeOptions, KvDelivery } from "../../../kv/consume/consume-types.js";
import { encodeLease, encodePosition } from "../../../kv/consume/consumer-records.js";
import { EmbeddedKv } from "../../../kv/embedded-kv.js";
import { openKv } from "../../../kv/open-kv.js";
import type { KvU64 } from "../../../values/kv-u64.js";
import { soon } from "../../soon.js";
import type { EngineTestGroup } from "../engine-adapter.js";

const week = { keep: "7 days" } as const;
const atOnce = { retryDelay: () => 1 };

export const consumerTests: EngineTestGroup = {
  name: "consumers of the log",
  define(addTest) {
    const test: typeof addTest = (name, body) => addTest(name, body, "log");

    test("get each commit in order, and continue where they ended", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a", 0], 0);
      const first = follow(kv, "copy");
      await kv.set(["a", 1], 1);
      await first.has(2);
      await first.stop();
      await kv.atomic().context!("between").set(["a", 2], 2).set(["b", 2], 2).commit();
      const second = follow(kv, "copy");
      await kv.set(["a", 3], 3);
      await second.has(2);
      await second.stop();
      const commits = [...first.seen, ...second.seen].map(({ commit }) => commit);
      assert.deepEqual(
        commits.map(({ changes }) => changes.map(({ key }) => key.join())),
        [["a,0"], ["a,1"], ["a,2", "b,2"], ["a,3"]],
      );
      const versionstamps = commits.map(({ versionstamp }) => versionstamp);
      assert.deepEqual(versionstamps, [...versionstamps].sort());
      assert.equal(commits[2]?.context, "between");
      assert.ok(commits[2].time instanceof Date);
    });

    test("begin where they are asked to, and see a prefix", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp } = await kv.set(["a", 1], 1);
      await kv.set(["a", 2], 2);
      const now = follow(kv, "now", { from: "now" });
      const later = follow(kv, "later", { from: versionstamp });
      const some = follow(kv, "some", { prefix: ["b"] });
      while ((await kv.consumers()).length < 3) await turn();
      await kv.set(["b", 3], 3);
      await Promise.all([now.has(1), later.has(2), some.has(1)]);
      for (const each of [now, later, some]) await each.stop();
      assert.deepEqual(now.keys, ["b,3"]);
      assert.deepEqual(later.keys, ["a,2", "b,3"]);
      assert.deepEqual(some.keys, ["b,3"]);
    });

    test("get a commit again that the handler could not handle", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      await kv.set(["b"], 2);
      const failures: unknown[] = [];
      const onError = (error: unknown, { attempt, consumer, commit }: object & Failure) =>
        failures.push([`${error}`, attempt, consumer, commit?.changes[0]?.key[0]]);
      const following = follow(kv, "copy", { ...atOnce, onError }, ({ attempt }) => {
        if (attempt < 3) throw new Error("not now");
      });
      await following.has(6);
      await following.stop();
      assert.deepEqual(following.keys, ["a", "a", "a", "b", "b", "b"]);
      assert.deepEqual(failures, [
        ["Error: not now", 1, "copy", "a"],
        ["Error: not now", 2, "copy", "a"],
        ["Error: not now", 1, "copy", "b"],
        ["Error: not now", 2, "copy", "b"],
      ]);
    });

    test("write exactly once what they commit with their position", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      for (let n = 0; n < 10; n++) await kv.set(["a", n], n);
      let failures = 0;
      const following = follow(
        kv,
        "sum",
        { ...atOnce, onError: () => failures++ },
        async ({ commit, atomic }) => {
          const n = BigInt(commit.changes[0]!.after!.value as number);
          const { ok } = await atomic().sum(["sum"], n).set(["last"], commit.versionstamp).commit();
          assert.ok(ok);
          throw new Error("after the commit");
        },
      );
      await following.has(10);
      while ((await kv.get<KvU64>(["sum"])).value?.value !== 45n) await turn();
      // Those that the consumer has made itself are not delivered.
      await kv.set(["a", 10], 100);
      await following.has(11);
      await following.stop();
      assert.deepEqual(
        following.keys,
        Array.from({ length: 11 }, (_, n) => `a,${n}`),
      );
      assert.equal(failures, 11);
      assert.equal((await kv.get<KvU64>(["sum"])).value?.value, 145n);
      let commits = 0;
      for await (const { changes } of kv.changes({ live: false })) {
        commits++;
        for (const { key } of changes) assert.ok(["a", "sum", "last"].includes(key[0] as string));
      }
      assert.equal(commits, 22);
    });

    test("return { ok: false } if a check of their own fails", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      const results: boolean[] = [];
      const following = follow(kv, "copy", {}, async ({ atomic }) => {
        const absent = { key: ["a"], versionstamp: null };
        const refused = await atomic().check(absent).set(["b"], 1).commit();
        const done = await atomic().set(["b"], 2).commit();
        results.push(refused.ok, done.ok);
        await assert.rejects(atomic().set(["b"], 3).commit(), { reason: "advanced" });
      });
      await following.has(1);
      while (results.length < 2) await turn();
      await following.stop();
      assert.deepEqual(results, [false, true]);
      assert.equal((await kv.get(["b"])).value, 2);
    });

    test("have one holder at a time, and the next takes over", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const first = follow(kv, "copy");
      await kv.set(["a", 1], 1);
      await first.has(1);
      const second = follow(kv, "copy");
      await kv.set(["a", 2], 2);
      await first.has(2);
      assert.deepEqual(second.keys, []);
      await first.stop();
      await kv.set(["a", 3], 3);
      await second.has(1);
      await second.stop();
      assert.deepEqual(second.keys, ["a,3"]);
    });

    test("cannot write after another process has taken them over", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      const [begun, begin] = gate();
      const [taken, take] = gate();
      let wasAborted: boolean | undefined;
      const following = follow(kv, "copy", { ...atOnce }, async ({ atomic, signal }) => {
        if (wasAborted !== undefined) return;
        begin();
        await taken;
        await assert.rejects(
          atomic().set(["b"], "stale").commit(),
          (error) => error instanceof ConsumerLostError && error.reason === "taken",
        );
        wasAborted = signal.aborted;
        throw new Error("stale");
      });
      await begun;
      await storeHolder(kv, 20);
      take();
      // The call takes the consumer back when the lease of the other is over.
      await following.has(2);
      await following.stop();
      assert.ok(wasAborted);
      assert.deepEqual(following.keys, ["a", "a"]);
      assert.equal((await kv.get(["b"])).value, null);
    });

    test("are taken over from a process that no longer renews its lease", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp } = await kv.set(["a"], 1);
      await storeHolder(kv, 20, versionstamp);
      await kv.set(["b"], 1);
      const following = follow(kv, "copy");
      await following.has(1);
      await following.stop();
      assert.deepEqual(following.keys, ["b"]);
    });

    test("give a handler that hangs no further effect", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      const errors: unknown[] = [];
      const onError = (error: unknown) => errors.push(error);
      let late: Promise<unknown> | undefined;
      const options = { ...atOnce, onError, timeout: 20 };
      const following = follow(kv, "copy", options, async ({ atomic, attempt, signal }) => {
        if (attempt > 1) return;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await turn();
        late = atomic().set(["b"], "late").commit();
        late.catch(() => undefined);
      });
      await following.has(2);
      await following.stop();
      assert.ok(errors[0] instanceof ConsumerTimeoutError);
      await assert.rejects(late!, { code: "KW_CONSUMER_LOST", reason: "ended" });
      assert.equal((await kv.get(["b"])).value, null);
    });

    test("store their position after commits that they do not get", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const following = follow(kv, "some", { prefix: ["b"], lease: 900 });
      await kv.set(["b", 1], 1);
      await following.has(1);
      const { versionstamp } = await kv.set(["a"], 1);
      const isStored = async () => {
        while ((await kv.consumers())[0]?.position !== versionstamp) await turn();
      };
      await soon("the position", isStored());
      await following.stop();
    });

    test("fail if they are removed, and begin again", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      const following = follow(kv, "copy", { lease: 60 });
      await following.has(1);
      assert.equal(await kv.removeConsumer("copy"), true);
      assert.equal(await kv.removeConsumer("copy"), false);
      await kv.set(["b"], 1);
      await assert.rejects(soon("the end", following.done), { reason: "removed" });
      assert.deepEqual(await kv.consumers(), []);
      const again = follow(kv, "copy");
      await again.has(2);
      await again.stop();
      assert.deepEqual(again.keys, ["a", "b"]);
    });

    test("fail if the log no longer has their position", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const following = follow(kv, "copy");
      await kv.set(["a"], 1);
      await following.has(1);
      await following.stop();
      await openKv(engine, { log: false });
      await assert.rejects(follow(kv, "other").done, LogOffError);
      await openKv(engine, { log: week });
      await kv.set(["b"], 1);
      const [listed] = await kv.consumers();
      assert.equal(listed?.isTruncated, true);
      await assert.rejects(
        follow(kv, "copy").done,
        (error) => error instanceof LogTruncatedError && error.consumer === "copy",
      );
      await kv.removeConsumer("copy");
      const again = follow(kv, "copy");
      await again.has(1);
      await again.stop();
      assert.deepEqual(again.keys, ["b"]);
    });

    test("are listed, and end when the handle is closed", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp } = await kv.set(["a"], 1);
      const [waiting, go] = gate();
      const following = follow(kv, "copy", {}, () => waiting);
      await following.has(1);
      const [listed, ...others] = await kv.consumers();
      assert.deepEqual(others, []);
      assert.deepEqual(
        { ...listed, position: listed!.position < versionstamp },
        {
          name: "copy",
          position: true,
          pending: 1,
          isTruncated: false,
          holder: { host: listed!.holder!.host, pid },
        },
      );
      go();
      while ((await kv.consumers())[0]?.position !== versionstamp) await turn();
      const other = await openKv(engine);
      await kv.close();
      await soon("the end", following.done);
      assert.equal((await other.consumers())[0]?.position, versionstamp);
    });

    test("end without an error when the handle is closed during a call", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp } = await kv.set(["a"], 1);
      const [waiting, go] = gate();
      const errors: unknown[] = [];
      let late: unknown;
      const following = follow(
        kv,
        "copy",
        { onError: (error) => errors.push(error) },
        async ({ atomic }) => {
          const operation = atomic().set(["b"], 1);
          await waiting;
          late = await operation.commit().catch((error: unknown) => error);
        },
      );
      await following.has(1);
      const other = await openKv(engine);
      await kv.close();
      go();
      await soon("the end", following.done);
      assert.equal((late as { code?: string }).code, "KW_DATABASE_CLOSED");
      assert.deepEqual(errors, []);
      assert.ok((await other.consumers())[0]!.position < versionstamp);
      assert.equal((await other.get(["b"])).value, null);
    });

    test("refuse bad arguments", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const bad = [
        kv.consume("", () => undefined),
        kv.consume("a", "handler" as never),
        kv.consume("a", () => undefined, { timeout: 0 }),
        kv.consume("a", () => undefined, { lease: Number.NaN }),
      ];
      for (const each of bad) await assert.rejects(each, InvalidOptionError);
      await assert.rejects(
        kv.consume("a", () => undefined, { from: "yesterday" }),
        { code: "KW_VERSIONSTAMP_INVALID" },
      );
      assert.deepEqual(await kv.consumers(), []);
    });
  },
};

type Failure = Parameters<NonNullable<KvConsumeOptions["onError"]>>[1];

interface Following {
  readonly seen: KvDelivery[];
  /** The keys of the first change of each delivery. */
  readonly keys: string[];
  readonly done: Promise<void>;
  /** Resolves after this number of deliveries. */
  has(count: number): Promise<void>;
  stop(): Promise<void>;
}

function follow(
  kv: EmbeddedKv,
  name: string,
  options: KvConsumeOptions = {},
  handler: (delivery: KvDelivery) => unknown = () => undefined,
): Following {
  const stopping = new AbortController();
  const seen: KvDelivery[] = [];
  const keys: string[] = [];
  let notify: () => void = () => undefined;
  const handle = async (delivery: KvDelivery): Promise<void> => {
    seen.push(delivery);
    keys.push(delivery.commit.changes[0]!.key.join());
    notify();
    await handler(delivery);
  };
  const done = kv.consume(name, handle, { ...options, signal: stopping.signal });
  done.catch(() => undefined);
  const has = async (count: number) => {
    while (seen.length < count) {
      const next = new Promise<void>((resolve) => {
        notify = resolve;
      });
      await Promise.race([next, done.then(() => assert.fail("the consumer has ended"))]);
    }
  };
  return {
    seen,
    keys,
    done,
    has: (count) => soon(`delivery ${count} of ${name}`, has(count)),
    stop: async () => {
      stopping.abort(new Error("stopped"));
      await soon(`the end of ${name}`, done);
    },
  };
}

/** Stores what another process would that has the consumer "copy" and has died. */
async function storeHolder(kv: EmbeddedKv, timeToLive: number, after?: string): Promise<void> {
  const position = after ?? (await kv.consumers()).find(({ name }) => name === "copy")!.position;
  const lease = { process: "another", host: "another", pid: 1, timeToLive };
  const holder = "another";
  await EmbeddedKv.sharedOf(kv, "test").commit({
    checks: [],
    mutations: [
      {
        type: "set",
        key: consumerPositionKey("copy"),
        value: encodePosition({ position, holder }),
      },
      { type: "set", key: consumerLeaseKey("copy"), value: encodeLease({ ...lease, holder }) },
    ],
    sync: false,
  });
}

function gate(): [Promise<void>, () => void] {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, () => open()];
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
