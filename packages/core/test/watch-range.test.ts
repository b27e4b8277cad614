import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChangeWatchers } from "../src/engine/change-watchers.js";
import type { Engine } from "../src/engine/engine.js";
import { encodeKey } from "../src/keys/encode-key.js";
import type { KvKey } from "../src/keys/key.js";
import { specificationOrder } from "../src/keys/key-order.js";
import { type KvListSelector, keyRange } from "../src/keys/key-range.js";
import { copyKv } from "../src/kv/copy/copy-kv.js";
import type { EmbeddedKv } from "../src/kv/embedded-kv.js";
import type { OpenKvOptions } from "../src/kv/open/open-handle.js";
import { openKv } from "../src/kv/open-kv.js";
import { type KvRangeChange, watchRangeStream } from "../src/kv/watch/watch-range-stream.js";
import { soon } from "../src/testing/soon.js";
import { key } from "./key-arbitrary.js";
import { runCode } from "./run-in-process.js";
import { withFolder } from "./temporary-folder.js";

const everything: KvListSelector = { prefix: [] };

async function withKv(
  body: (kv: EmbeddedKv) => Promise<void>,
  options: OpenKvOptions = {},
): Promise<void> {
  const kv = await openKv(":memory:", options);
  try {
    await body(kv);
  } finally {
    // Deno's `close()` throws where it was closed before.
    await kv[Symbol.asyncDispose]();
  }
}

/** A reader of a stream of changes that does not wait for ever. */
class Changes {
  readonly #reader: ReadableStreamDefaultReader<KvRangeChange>;

  constructor(kv: EmbeddedKv, ...selectors: KvListSelector[]) {
    this.#reader = kv.watchRange(selectors).getReader();
  }

  /** The next report; undefined where the stream has ended. */
  async next(): Promise<KvRangeChange | undefined> {
    return (await soon("a report of watchRange", this.#reader.read())).value;
  }

  async keys(): Promise<readonly KvKey[] | undefined> {
    return (await this.next())?.keys;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** An engine that has nothing but those who watch its ranges. */
function watchedEngine(): { engine: Engine; notify: (...keys: KvKey[]) => void; stops: number } {
  const watchers = new ChangeWatchers();
  const watched = {
    engine: {
      watchRanges: (...args: Parameters<Engine["watchRanges"]>) => {
        const stop = watchers.watchRanges(...args);
        return () => {
          watched.stops++;
          stop();
        };
      },
    } as unknown as Engine,
    notify: (...keys: KvKey[]) => watchers.notify(keys.map((each) => ({ key: encodeKey(each) }))),
    stops: 0,
  };
  return watched;
}

describe("ChangeWatchers", () => {
  it("continues with those who are there where one leaves or comes while it is told", () => {
    const watchers = new ChangeWatchers();
    const ranges = [keyRange(everything)];
    const told: string[] = [];
    const leave = watchers.watchRanges(ranges, () => {
      told.push("first");
      leave();
      watchers.watchRanges(ranges, () => told.push("third"));
    });
    watchers.watchRanges(ranges, () => told.push("second"));
    const changed = [{ key: encodeKey(["a"]) }];
    watchers.notify(changed);
    expect(told).toEqual(["first", "second"]);
    watchers.notify(changed);
    expect(told).toEqual(["first", "second", "second", "third"]);
  });
});

describe("watchRangeStream", () => {
  const source = (engine: Engine) => ({
    engine,
    order: specificationOrder,
    ranges: [keyRange(everything)],
    open: new Set<{ end(): void }>(),
  });

  it("leaves nothing with the engine and the handle when it has ended", async () => {
    for (const end of ["cancel", "end"] as const) {
      const watched = watchedEngine();
      const { open, ...rest } = source(watched.engine);
      const stream = watchRangeStream({ ...rest, open });
      const [watch] = open;
      watched.notify(["a"]);
      if (end === "cancel") await stream.cancel();
      else watch!.end();
      watch!.end();
      expect([watched.stops, open.size]).toEqual([1, 0]);
    }
  });

  it("keeps 1,000 keys, and says whether there were more", async () => {
    const watched = watchedEngine();
    const reader = watchRangeStream(source(watched.engine)).getReader();
    const names = Array.from({ length: 1001 }, (_, n) => ["n", n]);

    watched.notify(...names.slice(0, 1000));
    watched.notify(...names.slice(0, 1000));
    const all = (await reader.read()).value;
    expect(all).toEqual({ keys: names.slice(0, 1000), isComplete: true });

    watched.notify(...names);
    watched.notify(["n", 1], ["other"]);
    const some = (await reader.read()).value;
    expect(some).toEqual({ keys: names.slice(0, 1000), isComplete: false });

    watched.notify(["n", 1000]);
    expect((await reader.read()).value).toEqual({ keys: [["n", 1000]], isComplete: true });
    await reader.cancel();
  });
});

describe.each<OpenKvOptions>([{}, { compat: "deno" }])("watchRange with %o", (options) => {
  it("reports the keys that commits set or delete within its ranges, and no others", async () => {
    await withKv(async (kv) => {
      const changes = new Changes(kv, { prefix: ["a"] }, { start: ["c"], end: ["d"] });
      await kv.set(["a"], 1);
      await kv.set(["a", 1], 1);
      expect(await changes.next()).toEqual({ keys: [["a", 1]], isComplete: true });
      await kv.delete(["a", 1]);
      expect(await changes.keys()).toEqual([["a", 1]]);
      await kv.set(["b"], 1);
      await kv.atomic().set(["d"], 1).set(["c"], 1).delete(["c", 2]).set(["b", "a", 1], 1).commit();
      expect(await changes.keys()).toEqual([["c"], ["c", 2]]);
    }, options);
  });

  it("of a selector reports the keys that list has of it, and refuses what list refuses", async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(selectorAndKeys, async ({ selector, keys }) => {
        await withKv(async (kv) => {
          // Another range, so that there is always something to report.
          const watch = await attempt(() => new Changes(kv, selector, { prefix: ["end"] }));
          const isListed = (await attempt(() => kv.list(selector).next())) !== undefined;
          expect(watch !== undefined).toBe(isListed);
          if (watch === undefined) return;
          // Some are too large for Deno: of these there is nothing to report.
          for (const each of keys) await kv.set(each, 1).catch(() => undefined);
          const listed: KvKey[] = [];
          for await (const entry of kv.list(selector)) listed.push(entry.key);
          await kv.set(["end", 1], 1);
          expect(sorted((await watch.keys()) ?? [])).toEqual(sorted([...listed, ["end", 1]]));
          compared += listed.length;
        }, options);
      }),
      { numRuns: 300 },
    );
    expect(compared).toBeGreaterThan(100);
  });

  it("shows none of the database's own entries", async () => {
    await withKv(async (kv) => {
      const selectors = [everything, { start: [], end: ["b"] }];
      const watches = selectors.map((selector) => new Changes(kv, selector));
      await kv.enqueue("message", { delay: 60_000 });
      await kv.set(["a"], 1, { expireIn: 60_000 });
      for (const changes of watches) expect(await changes.keys()).toEqual([["a"]]);
    }, options);
  });

  it("refuses what list refuses, at once", async () => {
    await withKv(async (kv) => {
      const refused: [unknown, string][] = [
        [[{}], "KW_SELECTOR_INVALID"],
        [[null], "KW_SELECTOR_INVALID"],
        [[everything, { prefix: ["a"], start: ["b"] }], "KW_SELECTOR_INVALID"],
        [[{ start: ["b"], end: ["a"] }], "KW_SELECTOR_INVALID"],
        [[{ prefix: [null] }], "KW_KEY_INVALID"],
        [[{ prefix: ["\ud800"] }], "KW_KEY_INVALID"],
        [[], "KW_OPTION_INVALID"],
        [undefined, "KW_OPTION_INVALID"],
        [everything, "KW_OPTION_INVALID"],
      ];
      for (const [selectors, code] of refused) {
        const watch = () => kv.watchRange(selectors as KvListSelector[]);
        expect(watch, JSON.stringify(selectors)).toThrow(expect.objectContaining({ code }));
      }
      await kv.close();
      const closed = expect.objectContaining({ code: "KW_DATABASE_CLOSED" });
      expect(() => kv.watchRange([everything])).toThrow(closed);
    }, options);
  });

  it("ends when the database is closed, also where somebody waits", async () => {
    await withKv(async (kv) => {
      const waiting = new Changes(kv, everything).next();
      const unread = new Changes(kv, everything);
      const ended = new Changes(kv, everything);
      await ended.cancel();
      await kv.set(["other"], 1);
      expect((await waiting)?.keys).toEqual([["other"]]);
      const next = unread.next().then(() => unread.next());
      await kv.close();
      expect(await next).toBeUndefined();
      expect(await ended.next()).toBeUndefined();
    }, options);
  });
});

/** A selector of each shape, and keys of which some are within it. */
const selectorAndKeys = fc
  .record({
    prefix: key,
    bounds: fc.tuple(key, key),
    keys: fc.array(key, { maxLength: 6 }),
    shape: fc.nat(4),
  })
  .map(({ prefix, bounds: [a, b], keys, shape }) => {
    const extended = [a, b, ...keys].map((each) => [...prefix, ...each]);
    const selectors: KvListSelector[] = [
      { prefix },
      { prefix, start: [...prefix, ...a] },
      { prefix, end: [...prefix, ...a] },
      { start: a, end: b },
      { start: b, end: a },
    ];
    const filled = [...extended, ...keys, a, b, prefix].filter((each) => each.length > 0);
    // The key that tells where the report is at its end is another.
    const others = filled.filter((each) => each[0] !== "end");
    return { selector: selectors[shape] as KvListSelector, keys: others };
  });

/** The result of a call; undefined where it fails. */
async function attempt<T>(call: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch {
    return undefined;
  }
}

function sorted(keys: readonly KvKey[]): string[] {
  return keys.map((each) => encodeKey(each).join()).sort();
}

describe("watchRange in Deno's mode", () => {
  it("takes bounds and refuses them as list does there", async () => {
    await withKv(
      async (kv) => {
        // Its bytes are under the prefix, and that is what Deno looks at.
        const changes = new Changes(kv, { prefix: ["a"], end: ["a\0b"] });
        for (const name of ["a", "a\0b", "a\0a"]) await kv.set([name], 1);
        expect(await changes.keys()).toEqual([["a\0a"]]);

        const atMost = "x".repeat(2046);
        const limit = expect.objectContaining({ code: "KW_LIMIT_EXCEEDED", max: 2049 });
        for (const [start, end] of [
          [`${atMost}xx`, "z"],
          ["a", `${atMost}xx`],
        ]) {
          const selector = { start: [start as string], end: [end as string] };
          expect(() => kv.watchRange([selector])).toThrow(limit);
        }
        const text = "Start key is greater than end key";
        expect(() => kv.watchRange([{ start: ["b"], end: ["a"] }])).toThrow(text);
        await kv.close();
        expect(() => kv.watchRange([everything])).toThrow("Bad resource ID");
      },
      { compat: "deno" },
    );
  });
});

describe("watchRange", () => {
  it("reports nothing at first, and what was committed before it not at all", async () => {
    await withKv(async (kv) => {
      await kv.set(["a"], 1);
      const changes = new Changes(kv, everything);
      const first = changes.keys();
      await kv.set(["b"], 1);
      expect(await first).toEqual([["b"]]);
    });
  });

  it("misses no commit that is made after the call, whoever reads when", async () => {
    await withKv(async (kv) => {
      const stream = kv.watchRange([everything]);
      const commits = Array.from({ length: 20 }, (_, n) => kv.set(["n", n], n));
      await Promise.all(commits);
      const { value } = await stream.getReader().read();
      expect(value?.keys).toEqual(Array.from({ length: 20 }, (_, n) => ["n", n]));
    });
  });

  it("reports what other handles of the same database write", async () => {
    await withFolder(async (folder) => {
      const writer = await openKv(folder, { durability: "relaxed" });
      const reader = await openKv(folder, { readOnly: true });
      try {
        const changes = new Changes(reader, everything);
        await writer.set(["a"], 1);
        expect(await changes.keys()).toEqual([["a"]]);
        await reader.close();
        expect(await changes.next()).toBeUndefined();
        await writer.set(["b"], 1);
      } finally {
        await reader.close();
        await writer.close();
      }
    });
  });

  it("reports each key once where changes come faster than they are read", async () => {
    await withKv(async (kv) => {
      const changes = new Changes(kv, everything);
      for (let n = 0; n < 30; n++)
        await kv
          .atomic()
          .set(["a"], n)
          .set(["n", n % 3], n)
          .commit();
      const keys = [["a"], ["n", 0], ["n", 1], ["n", 2]];
      expect(await changes.next()).toEqual({ keys, isComplete: true });
      const next = changes.keys();
      await kv.set(["a"], 31);
      expect(await next).toEqual([["a"]]);
    });
  });

  it("reports no commit twice and forgets none while it is read and written at once", async () => {
    await withKv(async (kv) => {
      const changes = new Changes(kv, everything);
      const writing = (async () => {
        for (let n = 0; n < 500; n++) await kv.set(["n", n], n);
      })();
      const seen: KvKey[] = [];
      while (seen.length < 500) seen.push(...((await changes.keys()) ?? []));
      await writing;
      expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => ["n", n]));
    });
  });

  it("reports sum, min, max, and keys that end in a versionstamp", async () => {
    await withKv(async (kv) => {
      const changes = new Changes(kv, everything);
      const { versionstamp } = (await kv
        .atomic()
        .sum(["sum"], 1n)
        .min(["min"], 1n)
        .max(["max"], 1n)
        .set(["log", kv.commitVersionstamp()], 1)
        .commit()) as { versionstamp: string };
      const keys = [["sum"], ["min"], ["max"], ["log", versionstamp]];
      expect(await changes.keys()).toEqual(keys);
    });
  });

  it("does not report a commit that was refused", async () => {
    await withKv(async (kv) => {
      await kv.set(["a"], 1);
      const changes = new Changes(kv, everything);
      const check = { key: ["a"], versionstamp: null };
      expect((await kv.atomic().check(check).set(["b"], 1).commit()).ok).toBe(false);
      await expect(kv.atomic().set(["c"], 1).sum(["a"], 1n).commit()).rejects.toThrow(TypeError);
      await kv.set(["d"], 1);
      expect(await changes.keys()).toEqual([["d"]]);
    });
  });

  it("reports an expired entry when it is removed", async () => {
    await withKv(async (kv) => {
      await kv.set(["a", 1], 1, { expireIn: 20 });
      const changes = new Changes(kv, { prefix: ["a"] });
      expect(await changes.keys()).toEqual([["a", 1]]);
      expect((await kv.get(["a", 1])).value).toBeNull();
    });
  });

  it("reports what copyKv writes", async () => {
    await withKv(async (from) => {
      for (let n = 0; n < 5; n++) await from.set(["n", n], n);
      await withKv(async (to) => {
        const changes = new Changes(to, { prefix: ["n"] });
        await copyKv(from, to);
        expect(await changes.keys()).toHaveLength(5);
      });
    });
  });

  it("reports keys that are the reader's own, and takes its selectors as they are when it is called", async () => {
    await withKv(async (kv) => {
      const prefix = ["a"];
      const watches = [new Changes(kv, { prefix }), new Changes(kv, { prefix })];
      prefix[0] = "b";
      await kv.set(["a", Uint8Array.of(1)], 1);
      for (const [, bytes] of (await watches[0]?.keys()) ?? []) (bytes as Uint8Array)[0] = 9;
      expect(await watches[1]?.keys()).toEqual([["a", Uint8Array.of(1)]]);
    });
  });

  it("keeps its process running while somebody waits for it, and no longer", async () => {
    const output = await runCode(`
      const kv = await openKv();
      setTimeout(() => kv.set(["a"], 1), 50).unref();
      for await (const { keys } of kv.watchRange([{ prefix: [] }])) {
        console.log(JSON.stringify(keys));
        break;
      }
      kv.watchRange([{ prefix: [] }]);
      await kv.set(["a"], 2);
      console.log("done");
    `);
    expect(output).toBe('[["a"]]\ndone\n');
  });
});
