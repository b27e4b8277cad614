import assert from "node:assert/strict";
import { nextTurn } from "#platform";
import type { Engine, ReadView, StoredEntry } from "../../../engine/engine.js";
import { keyRange } from "../../../keys/key-range.js";
import { until } from "../../soon.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import { check, commit, del, firstBytes, k, set, write } from "../writes.js";

const all = { range: keyRange({ prefix: [] }), limit: 1000, reverse: false };

export const viewTests: EngineTestGroup = {
  name: "openView",
  define(addTest) {
    const test: typeof addTest = (name, body) => addTest(name, body, "views");

    test("reads the state of its opening while commits change everything", async ({ engine }) => {
      const stamp = await commit(engine, write(set("a", 1), set("b", 2), set("c", 3)));
      const view = await open(engine);
      try {
        await commit(engine, write(set("a", 4), del("b"), set("bb", 5)));
        const [c] = await engine.commit([write(set("c", 6)), write(set("d", 7))]);
        assert.equal(typeof c, "string");
        for (let read = 0; read < 2; read++) {
          assert.deepEqual(await readAll(view), [1, 2, 3]);
          const reversed = await view.getRange({ ...all, limit: 2, reverse: true });
          assert.deepEqual(firstBytes(reversed), [3, 2]);
          const range = keyRange({ start: ["b"], end: ["c"] });
          assert.deepEqual(firstBytes(await view.getRange({ ...all, range })), [2]);
          const many = await view.getMany(["a", "b", "bb", "c", "d"].map((name) => k(name)));
          assert.deepEqual(firstBytes(many), [1, 2, undefined, 3, undefined]);
          assert.equal((await view.get(k("a")))?.versionstamp, stamp);
          assert.equal((await view.get(k("b")))?.value[0], 2);
          assert.equal(await view.get(k("d")), undefined);
        }
        assert.deepEqual(firstBytes(await engine.getRange(all)), [4, 5, 6, 7]);
      } finally {
        view.close();
      }
    });

    test("opens and reads without a promise if the engine does", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const read = engine.get(k("a"));
      if (read instanceof Promise) {
        await read;
        return;
      }
      const view = engine.openView!();
      assert.ok(!(view instanceof Promise));
      assert.ok(!(view.get(k("a")) instanceof Promise));
      assert.ok(!(view.getMany([k("a")]) instanceof Promise));
      view.close();
    });

    test("sees everything that was acknowledged before", async ({ engine }) => {
      for (let n = 0; n < 20; n++) {
        await commit(engine, { ...write(set("a", n)), sync: n % 2 === 0 });
        const view = await open(engine);
        assert.equal((await view.get(k("a")))?.value[0], n);
        view.close();
      }
    });

    test("can have many views open at once", async ({ engine }) => {
      const views: ReadView[] = [];
      try {
        for (let n = 0; n < 5; n++) {
          await commit(engine, write(set("a", n), set(`n${n}`, n)));
          views.push(await open(engine), await open(engine));
        }
        // Some that are closed do not affect the others.
        for (const view of views.splice(2, 4)) view.close();
        await commit(engine, write(del("a")));
        const numbers = await Promise.all(
          views.map(async (view) => [
            (await view.get(k("a")))?.value[0],
            (await view.getRange(all)).length - 2,
          ]),
        );
        const expected = Array.from({ length: 10 }, (_, i) => Math.floor(i / 2));
        expected.splice(2, 4);
        assert.deepEqual(
          numbers,
          expected.map((n) => [n, n]),
        );
      } finally {
        for (const view of views) view.close();
      }
    });

    test("frees what closed views have held", async ({ engine }) => {
      // More than the connections and the places for readers of any engine.
      for (let n = 0; n < 150; n++) {
        if (n % 50 === 0) await commit(engine, write(set("a", n)));
        const view = await open(engine);
        assert.equal((await view.get(k("a")))?.value[0], n - (n % 50));
        view.close();
      }
    });

    test("reads whole commits while others are made", async ({ engine }) => {
      const names = Array.from({ length: 50 }, (_, i) => `n${String(i).padStart(2, "0")}`);
      const setAll = (n: number) => write(...names.map((name) => set(name, n)));
      await commit(engine, setAll(0));
      let isWriting = true;
      const writeAll = async () => {
        for (let n = 1; n <= 50; n++) await commit(engine, { ...setAll(n), sync: false });
        isWriting = false;
      };
      const readInParts = async () => {
        while (isWriting) {
          const view = await open(engine);
          const read: (StoredEntry | undefined)[] = [
            ...(await view.getRange({ ...all, limit: 10 })),
          ];
          for (const name of names.slice(10, 20)) {
            read.push(await view.get(k(name)));
            await nextTurn();
          }
          read.push(...(await view.getMany(names.slice(20).map((name) => k(name)))));
          view.close();
          assert.equal(new Set(read.map((entry) => entry?.versionstamp)).size, 1);
        }
      };
      await Promise.all([writeAll(), readInParts()]);
    });

    test("keeps entries that expire while the view is open", async ({ engine }) => {
      const expireAt = Date.now() + 150;
      await commit(engine, write(set("gone", 0, { expireAt: Date.now() - 5000 })));
      await commit(engine, write(set("a", 1, { expireAt }), set("b", 2)));
      const view = await open(engine);
      const isEarly = Date.now() < expireAt;
      await until(expireAt + 50);
      await commit(engine, write({ type: "deleteExpired", key: k("a") }));
      if (isEarly) {
        assert.deepEqual(await readAll(view), [1, 2]);
        assert.equal((await view.get(k("a")))?.expireAt, expireAt);
      }
      view.close();
      assert.deepEqual(firstBytes(await engine.getRange(all)), [2]);
    });

    const order = "sees no entry expire before a commit that depends on it, without the commit";
    addTest(
      order,
      async ({ engine }) => {
        const many = Array.from({ length: 5000 }, (_, i) => set(`m${i}`, 0));
        let hasExpiredDuringCommit = false;
        for (let round = 0; round < 40 && !hasExpiredDuringCommit; round++) {
          const expireAt = Date.now() + 2 ** (1 + (round % 6));
          const stamp = await commit(engine, write(set("a", 200, { expireAt }), set("b", round)));
          let isCommitting = true;
          const committing = engine
            .commit([write([check("a", stamp)], ...many, set("b", 100))])
            .finally(() => {
              isCommitting = false;
            });
          while (isCommitting) {
            await nextTurn();
            const view = await open(engine);
            const [a, b] = firstBytes(await view.getMany([k("a"), k("b")]));
            view.close();
            if (a !== undefined || b !== round) continue;
            // Nothing has seen the entry before it expired.
            assert.deepEqual(await committing, [null]);
          }
          hasExpiredDuringCommit = (await committing)[0] !== null && Date.now() > expireAt;
        }
        assert.ok(hasExpiredDuringCommit, "the entry has never expired during a commit");
      },
      "expiryOrder",
    );

    test("hides the engine's own records", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const view = await open(engine);
      const range = { start: new Uint8Array(0), end: Uint8Array.of(0xff) };
      assert.equal((await view.getRange({ ...all, range })).length, 1);
      view.close();
    });

    test("may wait for its first read, after which its state stays", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const view = await engine.openView!({ atFirstRead: true });
      try {
        assert.equal((await view.get(k("a")))?.value[0], 1);
        await commit(engine, write(set("a", 2), set("b", 2)));
        assert.deepEqual(await readAll(view), [1]);
        assert.deepEqual(firstBytes(await view.getMany([k("a"), k("b")])), [1, undefined]);
      } finally {
        view.close();
      }
    });

    test("refuses reads after it was closed, and can be closed again", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const view = await open(engine);
      const other = await open(engine);
      view.close();
      view.close();
      await assertFails(view, "KW_READ_VIEW_ENDED");
      assert.deepEqual(await readAll(other), [1]);
      other.close();
    });

    test("ends with the engine", async ({ engine, reopen }) => {
      await commit(engine, write(set("a", 1)));
      const views = [await open(engine), await open(engine)];
      views[0]!.close();
      const reopened = await reopen();
      await assertFails(views[0]!, "KW_READ_VIEW_ENDED");
      await assertFails(views[1]!, "KW_DATABASE_CLOSED");
      views[1]!.close();
      await assert.rejects(async () => await open(engine), { code: "KW_DATABASE_CLOSED" });
      const view = await open(reopened);
      assert.deepEqual(await readAll(view), [1]);
      view.close();
    });
  },
};

async function open(engine: Engine): Promise<ReadView> {
  return await engine.openView!();
}

async function readAll(view: ReadView): Promise<(number | undefined)[]> {
  return firstBytes(await view.getRange(all));
}

async function assertFails(view: ReadView, code: string): Promise<void> {
  await assert.rejects(async () => await view.get(k("a")), { code });
  await assert.rejects(async () => await view.getMany([k("a")]), { code });
  await assert.rejects(async () => await view.getRange(all), { code });
}
