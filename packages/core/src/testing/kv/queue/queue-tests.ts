import assert from "node:assert/strict";
import type { KvKey } from "../../../keys/key.js";
import type { KvEnqueueOptions } from "../../../kv/atomic-operation.js";
import type { Kv } from "../../../kv/kv.js";
import { soon, until } from "../../soon.js";
import { keysOf } from "../collect.js";
import type { KvTestGroup } from "../kv-adapter.js";
import { refuses } from "../refuses.js";
import { Inbox } from "./inbox.js";

export const queueTests: KvTestGroup = {
  name: "enqueue, listenQueue",
  define(test) {
    test("delivers a message that is enqueued before or after the listener", async ({ kv }) => {
      const result = await kv.enqueue("first");
      assert.equal(result.ok, true);
      assert.match(result.versionstamp, /^[0-9a-f]{20}$/);
      const inbox = listen(kv);
      assert.deepEqual(await inbox.count(1), ["first"]);
      await kv.enqueue("second");
      assert.deepEqual(await inbox.count(2), ["first", "second"]);
    });

    test("delivers messages of every type unchanged", async ({ kv }) => {
      const cycle: unknown[] = [];
      cycle.push(cycle);
      const messages = [undefined, null, "", -0, 1n, new Map([[1, new Date(5)]]), cycle];
      const inbox = listen(kv);
      for (const [index, message] of messages.entries()) {
        await kv.enqueue(message);
        assert.deepEqual((await inbox.count(index + 1)).at(-1), message);
      }
    });

    test("delivers many messages", async ({ kv }) => {
      const numbers = Array.from({ length: 50 }, (_, n) => n);
      const inbox = listen(kv);
      await Promise.all(numbers.map((n) => kv.enqueue(n)));
      const messages = (await inbox.count(50)) as number[];
      assert.deepEqual(
        messages.toSorted((a, b) => a - b),
        numbers,
      );
    });

    test("delivers each message to one of several listeners", async ({ kv }) => {
      const inbox = new Inbox();
      for (let n = 0; n < 3; n++) void kv.listenQueue((message) => inbox.receive(message));
      for (let n = 0; n < 20; n++) await kv.enqueue(n);
      const messages = (await inbox.count(20)) as number[];
      const numbers = Array.from({ length: 20 }, (_, n) => n);
      assert.deepEqual(
        messages.toSorted((a, b) => a - b),
        numbers,
      );
      // A second delivery of a message would arrive before this one.
      await kv.enqueue("end");
      assert.equal((await inbox.count(21)).at(-1), "end");
    });

    test("enqueues a message with the rest of its commit", async ({ kv }) => {
      const seen = new Inbox();
      void kv.listenQueue(async (message) => {
        seen.receive([message, (await kv.get(["a"])).value]);
      });
      const result = await kv.atomic().set(["a"], 1).enqueue("one").enqueue("two").commit();
      assert.ok(result.ok);
      const messages = (await seen.count(2)) as [string, number][];
      assert.deepEqual(messages.toSorted(), [
        ["one", 1],
        ["two", 1],
      ]);
      assert.equal((await kv.get(["a"])).versionstamp, result.versionstamp);
    });

    test("does not enqueue a message if a check fails", async ({ kv }) => {
      const inbox = listen(kv);
      await kv.set(["a"], 1);
      const check = { key: ["a"], versionstamp: null };
      const refused = await kv.atomic().check(check).enqueue("refused").commit();
      assert.deepEqual(refused, { ok: false });
      await kv.enqueue("end");
      assert.deepEqual(await inbox.count(1), ["end"]);
    });

    test("does not list messages among the entries", async ({ kv }) => {
      await kv.set(["a"], 1);
      await kv.atomic().enqueue("message").enqueue("late", { delay: 60_000 }).commit();
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["a"]]);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] }, { reverse: true })), [["a"]]);
    });

    test("copies a message when it is passed in", async ({ kv }) => {
      const message = { n: 1 };
      const enqueued = kv.enqueue(message);
      message.n = 2;
      await enqueued;
      assert.deepEqual(await listen(kv).count(1), [{ n: 1 }]);
    });

    test("delivers a delayed message after its delay", async ({ kv }) => {
      const inbox = new Inbox();
      void kv.listenQueue((message) => inbox.receive([message, Date.now()]));
      const enqueued = Date.now();
      await kv.enqueue("late", { delay: 150 });
      await kv.enqueue("now");
      const received = new Map((await inbox.count(2)) as [string, number][]);
      // On a slow machine, the other message may come even later.
      assert.deepEqual([...received.keys()].sort(), ["late", "now"]);
      assert.ok(received.get("late")! >= enqueued + 150);
    });

    for (const [name, fail] of Object.entries(failures)) {
      test(`delivers a message again if its handler ${name}`, async ({ kv }) => {
        const inbox = new Inbox();
        void kv.listenQueue((message) => {
          inbox.receive(message);
          if (inbox.messages.length === 1) return fail();
        });
        await kv.enqueue("again", { backoffSchedule: [10] });
        assert.deepEqual(await inbox.count(2), ["again", "again"]);
      });
    }

    test("does not deliver a message again after its handler succeeds", async ({ kv }) => {
      const inbox = listen(kv);
      await kv.enqueue("once", { backoffSchedule: [10, 10], keysIfUndelivered: [["failed"]] });
      await inbox.count(1);
      // The delay is longer than the retries would take.
      await kv.enqueue("end", { delay: 200 });
      assert.deepEqual(await inbox.count(2), ["once", "end"]);
      assert.equal((await kv.get(["failed"])).versionstamp, null);
    });

    test("stores a message under its keys after the last retry of its schedule", async ({ kv }) => {
      const inbox = failing(kv);
      const keysIfUndelivered = [
        ["failed", 1],
        ["failed", 2],
      ];
      await kv.enqueue({ n: 1 }, { backoffSchedule: [10, 20], keysIfUndelivered });
      const [first, second] = await present(kv, keysIfUndelivered);
      assert.deepEqual([first, second], [{ n: 1 }, { n: 1 }]);
      assert.equal(inbox.messages.length, 3);
    });

    test("waits between deliveries as the schedule says", async ({ kv }) => {
      const times: number[] = [];
      const inbox = new Inbox();
      void kv.listenQueue((message) => {
        times.push(Date.now());
        inbox.receive(message);
        throw new Error("the handler fails");
      });
      await kv.enqueue("message", { backoffSchedule: [60, 120] });
      await inbox.count(3);
      assert.ok(times[1]! - times[0]! >= 60);
      assert.ok(times[2]! - times[1]! >= 120);
    });

    test("delivers once with an empty schedule, then stores the message", async ({ kv }) => {
      const inbox = failing(kv);
      await kv.enqueue("message", { backoffSchedule: [], keysIfUndelivered: [["failed"]] });
      assert.deepEqual(await present(kv, [["failed"]]), ["message"]);
      assert.deepEqual(inbox.messages, ["message"]);
    });

    test("reports a stored message to a watch", async ({ kv }) => {
      const reports = kv.watch([["failed"]]).getReader();
      failing(kv);
      await kv.enqueue("message", { backoffSchedule: [], keysIfUndelivered: [["failed"]] });
      for (let value: unknown = null; value === null; ) {
        const report = await soon("a report of watch", reports.read());
        value = report.value?.[0].value;
      }
      assert.equal((await kv.get(["failed"])).value, "message");
    });

    test("drops an undelivered message without keys", async ({ kv }) => {
      const inbox = failing(kv);
      await kv.enqueue("lost", { backoffSchedule: [] });
      await kv.enqueue("stored", { backoffSchedule: [], keysIfUndelivered: [["failed"]] });
      await present(kv, [["failed"]]);
      await inbox.count(2);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["failed"]]);
      assert.deepEqual(inbox.messages.toSorted(), ["lost", "stored"]);
    });

    test("listenQueue resolves when the database is closed", async ({ kv }) => {
      const listening = [kv.listenQueue(() => undefined), kv.listenQueue(() => undefined)];
      // After this read, both handlers are registered.
      await kv.get(["a"]);
      await kv.close();
      await soon("listenQueue to resolve", Promise.all(listening));
    });

    test("listenQueue resolves if the database is closed during a delivery", async ({ kv }) => {
      const inbox = new Inbox();
      let finish: () => void = () => undefined;
      const listening = kv.listenQueue(async (message) => {
        inbox.receive(message);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      });
      await kv.enqueue("message");
      await inbox.count(1);
      const closing = kv.close();
      finish();
      await soon("the database to close", Promise.resolve(closing));
      await soon("listenQueue to resolve", listening);
    });

    test(
      "keeps messages when the database is reopened",
      async ({ kv, reopen }) => {
        await kv.enqueue("now");
        await kv.enqueue("late", { delay: 50 });
        const inbox = listen(await reopen());
        const messages = (await inbox.count(2)) as string[];
        assert.deepEqual(messages.toSorted(), ["late", "now"]);
      },
      "reopen",
    );

    test(
      "does not deliver a handled message after reopening",
      async ({ kv, reopen }) => {
        const inbox = listen(kv);
        await kv.enqueue("handled");
        await inbox.count(1);
        // After this read, the delivery has ended.
        await kv.get(["a"]);
        const reopened = await reopen();
        const later = listen(reopened);
        await reopened.enqueue("end", { delay: 100 });
        assert.deepEqual(await later.count(1), ["end"]);
      },
      "reopen",
    );

    test("refuses a message that cannot be stored", async ({ kv }) => {
      await refuses(() => kv.enqueue(() => 1));
      await refuses(() => kv.atomic().set(["a"], 1).enqueue(Symbol("s")).commit());
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
    });

    test("refuses a message that cannot be stored with a TypeError", async ({ kv }) => {
      await refuses(() => kv.enqueue(() => 1), TypeError);
    });

    test("refuses an invalid option with a TypeError", async ({ kv }) => {
      for (const options of Object.values(noOptions))
        await refuses(() => kv.enqueue("message", options), TypeError);
    });

    for (const [name, options] of Object.entries(noOptions)) {
      test(`refuses ${name}`, async ({ kv }) => {
        await refuses(() => kv.enqueue("message", options));
        await refuses(() => kv.atomic().set(["a"], 1).enqueue("message", options).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }
  },
};

const failures: Record<string, () => Promise<void>> = {
  throws: () => {
    throw new Error("the handler throws");
  },
  rejects: () => Promise.reject(new Error("the handler rejects")),
};

const noOptions = {
  "a negative delay": { delay: -1 },
  "a delay of NaN": { delay: Number.NaN },
  "a delay of more than 30 days": { delay: 30 * 24 * 3_600_000 + 1 },
  "a delay that is a string": { delay: "1" },
  "a schedule of six retries": { backoffSchedule: [1, 1, 1, 1, 1, 1] },
  "a schedule with a negative time": { backoffSchedule: [1, -1] },
  "a schedule with NaN": { backoffSchedule: [Number.NaN] },
  "a schedule with more than an hour": { backoffSchedule: [3_600_001] },
  "an undelivered key of no parts": { keysIfUndelivered: [[]] },
  "an undelivered key with null": { keysIfUndelivered: [["a"], [null]] },
} as unknown as Record<string, KvEnqueueOptions>;

function listen(kv: Kv): Inbox {
  const inbox = new Inbox();
  void kv.listenQueue((message) => inbox.receive(message));
  return inbox;
}

function failing(kv: Kv): Inbox {
  const inbox = new Inbox();
  void kv.listenQueue((message) => {
    inbox.receive(message);
    throw new Error("the handler fails");
  });
  return inbox;
}

/** Polls until all keys exist: Deno's `watch` does not report what a queue stores. */
async function present(kv: Kv, keys: readonly KvKey[]): Promise<unknown[]> {
  const arrived = async () => {
    for (;;) {
      const entries = await kv.getMany<unknown[]>([...keys]);
      if (entries.every((entry) => entry.versionstamp !== null))
        return entries.map((entry) => entry.value);
      await until(Date.now() + 5);
    }
  };
  return await soon("keys to be set", arrived());
}
