import assert from "node:assert/strict";
import type { Kv } from "../../kv/kv.js";
import { soon } from "../soon.js";
import type { KvTestGroup } from "./kv-adapter.js";

const calls: Record<string, (kv: Kv) => unknown> = {
  get: (kv) => kv.get(["a"]),
  getMany: (kv) => kv.getMany([["a"]]),
  set: (kv) => kv.set(["a"], 2),
  delete: (kv) => kv.delete(["a"]),
  list: (kv) => kv.list({ prefix: [] }).next(),
  commit: (kv) => kv.atomic().set(["a"], 2).commit(),
  enqueue: (kv) => kv.enqueue("message"),
  listenQueue: (kv) => kv.listenQueue(() => undefined),
  watch: (kv) =>
    kv
      .watch([["a"]])
      .getReader()
      .read(),
};

export const closeTests: KvTestGroup = {
  name: "close",
  define(test) {
    test("waits for commits that have begun", async ({ kv }) => {
      const events: string[] = [];
      const commits = Array.from({ length: 20 }, async (_, n) => {
        const result = await kv.set(["n", n], n);
        events.push("commit");
        return result;
      });
      const results = Promise.all(commits);
      await kv.close();
      events.push("closed");
      for (const result of await results) assert.equal(result.ok, true);
      assert.equal(events.indexOf("closed"), 20);
    });

    for (const [name, call] of Object.entries(calls)) {
      test(`makes ${name} fail afterwards`, async ({ kv }) => {
        await kv.set(["a"], 1);
        await kv.close();
        // Within the time of `soon`, which would be an error too.
        await soon(name, assert.rejects((async () => await call(kv))(), Error));
      });
    }

    test("makes operations and iterators that had begun fail", async ({ kv }) => {
      await kv.set(["a"], 1);
      await kv.set(["b"], 1);
      const atomic = kv.atomic().set(["a"], 2);
      const unread = kv.list({ prefix: [] });
      const halfRead = kv.list({ prefix: [] }, { batchSize: 1 });
      await halfRead.next();
      await kv.close();
      await assert.rejects(atomic.commit(), Error);
      await assert.rejects(unread.next(), Error);
      await assert.rejects(halfRead.next(), Error);
    });

    test("makes an iterator fail that has entries left in its batch", async ({ kv }) => {
      await kv.set(["a"], 1);
      await kv.set(["b"], 1);
      const halfRead = kv.list({ prefix: [] });
      await halfRead.next();
      await kv.close();
      await assert.rejects(halfRead.next(), Error);
    });

    test("can be called again", async ({ kv }) => {
      await Promise.all([kv.close(), kv.close()]);
      await kv.close();
    });

    test("is called by Symbol.dispose", async ({ kv }) => {
      await kv.set(["a"], 1);
      kv[Symbol.dispose]();
      await assert.rejects(kv.get(["a"]), Error);
    });

    test("is called and awaited by Symbol.asyncDispose", async ({ kv }) => {
      assert.ok(Symbol.asyncDispose in kv);
      const events: string[] = [];
      const set = kv.set(["a"], 1).then(() => events.push("commit"));
      await (kv as Kv & AsyncDisposable)[Symbol.asyncDispose]();
      events.push("closed");
      await set;
      assert.deepEqual(events, ["commit", "closed"]);
      await assert.rejects(kv.get(["a"]), Error);
    });

    test(
      "keeps committed entries",
      async ({ kv, reopen }) => {
        const { versionstamp } = await kv.set(["a"], { n: 1 });
        const reopened = await reopen();
        const entry = { key: ["a"], value: { n: 1 }, versionstamp };
        assert.deepEqual(await reopened.get(["a"]), entry);
        assert.ok((await reopened.set(["a"], 2)).versionstamp > versionstamp);
      },
      "reopen",
    );
  },
};
