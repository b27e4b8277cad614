import { describe, expect, it } from "vitest";
import { ChangeWatchers } from "../src/engine/change-watchers.js";
import type { KvEntryMaybe } from "../src/kv/kv.js";
import { openKv } from "../src/kv/open-kv.js";
import { watchStream } from "../src/kv/watch/watch-stream.js";
import { runCode } from "./run-in-process.js";

describe("ChangeWatchers", () => {
  const key = (...bytes: number[]) => Uint8Array.from(bytes);
  const changes = (...keys: Uint8Array[]) => keys.map((each) => ({ key: each }));

  it("tells those whose keys have changed, each once", () => {
    const watchers = new ChangeWatchers();
    const told: string[] = [];
    watchers.watch([key(1), key(2)], () => told.push("first"));
    watchers.watch([key(2)], () => told.push("second"));
    watchers.notify(changes(key(1), key(2), key(2)));
    expect(told.sort()).toEqual(["first", "second"]);
    watchers.notify(changes(key(1), key(3)));
    expect(told).toEqual(["first", "second", "first"]);
    watchers.notify(changes(key(1, 2)));
    expect(told).toHaveLength(3);
  });

  it("tells nobody who has left, and the others still", () => {
    const watchers = new ChangeWatchers();
    let told = 0;
    const onChange = () => told++;
    const leave = watchers.watch([key(1), key(1)], onChange);
    watchers.watch([key(1)], onChange);
    watchers.notify(changes(key(1)));
    expect(told).toBe(2);
    leave();
    leave();
    watchers.notify(changes(key(1)));
    expect(told).toBe(3);
  });
});

describe("a watch", () => {
  it("reports an entry that expires when it does, without a commit", async () => {
    const kv = await openKv();
    await kv.set(["a"], 1, { expireIn: 500 });
    const values = [];
    for await (const [entry] of kv.watch([["a"]])) {
      values.push(entry!.value);
      if (values.length === 2) break;
    }
    expect(values).toEqual([1, null]);
    await kv.close();
  });

  it("reads nothing before it is asked", async () => {
    const kv = await openKv();
    await kv.set(["a"], 1);
    const reader = kv.watch<[number]>([["a"]]).getReader();
    await kv.set(["a"], 2);
    expect((await reader.read()).value![0].value).toBe(2);
    for (const value of [3, 4, 5]) await kv.set(["a"], value);
    expect((await reader.read()).value![0].value).toBe(5);
    await kv.close();
    expect((await reader.read()).done).toBe(true);
  });

  it("fails where its keys cannot be read, and is at an end", async () => {
    let stops = 0;
    const failure = new Error("unreadable");
    const open = new Set<{ end(): void }>();
    const read = () => Promise.reject(failure);
    const stream = watchStream({ read, subscribe: () => () => stops++, open }, false);
    const [watch] = open;
    await expect(stream.getReader().read()).rejects.toBe(failure);
    watch!.end();
    expect([stops, open.size]).toEqual([1, 0]);
  });

  it("ends without a failure where the database is closed while it is read", async () => {
    let failReading = (_error: Error) => {};
    const reading = new Promise<KvEntryMaybe<unknown>[]>((_resolve, reject) => {
      failReading = reject;
    });
    const open = new Set<{ end(): void }>();
    const stream = watchStream({ read: () => reading, subscribe: () => () => 0, open }, false);
    const read = stream.getReader().read();
    await new Promise(setImmediate);
    for (const watch of open) watch.end();
    failReading(new Error("closed"));
    expect((await read).done).toBe(true);
  });

  it("misses no change that comes while it reads", async () => {
    let value = 0;
    let onChange = () => {};
    const entry = (): KvEntryMaybe<unknown>[] => [
      { key: ["a"], value, versionstamp: String(value) },
    ];
    const stream = watchStream(
      {
        read: async () => {
          const entries = entry();
          if (value === 0) {
            value = 1;
            onChange();
          }
          return entries;
        },
        subscribe: (callback) => {
          onChange = callback;
          return () => undefined;
        },
        open: new Set(),
      },
      false,
    );
    const reader = stream.getReader();
    expect((await reader.read()).value![0]!.value).toBe(0);
    expect((await reader.read()).value![0]!.value).toBe(1);
    await reader.cancel();
  });

  it("keeps its process running while somebody waits for it, and no longer", async () => {
    const output = await runCode(`
      const kv = await openKv();
      setTimeout(() => kv.set(["a"], "changed"), 50).unref();
      let seen = 0;
      for await (const [entry] of kv.watch([["a"]])) {
        console.log(entry.value);
        if (++seen === 2) break;
      }
      kv.watch([["a"]]);
      console.log("done");
    `).catch((error) => String(error.stderr));
    expect(output).toBe("null\nchanged\ndone\n");
  });
});
