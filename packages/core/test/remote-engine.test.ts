import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RemoteEngine } from "../src/engine/remote/client/remote-engine.js";
import type { AtomicWrite, StoredMutation } from "../src/index.js";
import { encodeValue, type KvU64, openKv } from "../src/index.js";
import { readLogPage } from "../src/kv/log/read-log-page.js";
import { decodeValue } from "../src/values/decode-value.js";
import { connectTo, type Owner, startOwner } from "./remote-engine.js";

let owner: Owner;
let engine: RemoteEngine;
beforeEach(async () => {
  owner = await startOwner();
  engine = await connectTo(owner);
});
afterEach(async () => {
  await engine.close();
  await owner.close();
});

const key = (n: number) => Uint8Array.of(2, 0x61 + n, 0);
const write = (...mutations: StoredMutation[]): AtomicWrite => {
  return { checks: [], mutations, sync: false };
};
const add = write({ type: "sum", key: key(0), operand: 1n });

async function sum(): Promise<bigint> {
  const entry = await owner.engine.get(key(0));
  return entry === undefined ? 0n : (decodeValue(entry.value) as KvU64).value;
}

describe("a commit whose connection is lost", () => {
  it.each(["disconnect", "restart"] as const)("is made once: %s", async (lose) => {
    let stamps = 0;
    for (let n = 0; n < 40; n++) {
      const commit = engine.commit([add, add]);
      // At another moment each time: before, during and after the commit.
      if (n % 4 === 1) owner[lose]();
      if (n % 4 === 2) setImmediate(() => owner[lose]());
      const later = n % 4 === 3 ? sleep(n % 3).then(() => owner[lose]()) : undefined;
      for (const outcome of await commit) if (typeof outcome === "string") stamps++;
      // Not later, because the connection of the next test would be lost.
      await later;
    }
    expect(stamps).toBe(80);
    expect(await sum()).toBe(80n);
  });
});

it("a commit whose answer is lost is ambiguous if the next owner cannot read what it made", async () => {
  const { engine: own } = owner;
  const commit = own.commit.bind(own);
  own.commit = async (writes) => {
    const outcomes = await commit(writes);
    own.commit = commit;
    const get = own.get.bind(own);
    own.get = async () => {
      own.get = get;
      throw new Error("The disk fails.");
    };
    owner.restart();
    return outcomes;
  };
  expect(await engine.commit([add])).toMatchObject([{ code: "KW_COMMIT_AMBIGUOUS" }]);
  expect(await sum()).toBe(1n);
});

it("a commit is made once, also if another client leaves the next owner before it is repeated", async () => {
  let mayConnect: Promise<void> | undefined;
  const late = await connectTo({
    connect: async () => {
      await mayConnect;
      return await owner.connect();
    },
  });
  try {
    let open: () => void = () => undefined;
    const { engine: own } = owner;
    const commit = own.commit.bind(own);
    own.commit = async (writes) => {
      const outcomes = await commit(writes);
      own.commit = commit;
      mayConnect = new Promise((resolve) => {
        open = resolve;
      });
      owner.restart();
      return outcomes;
    };
    const committed = late.commit([add]);
    await vi.waitFor(() => expect(mayConnect).toBeDefined());
    const other = await connectTo(owner);
    await other.commit([write({ type: "set", key: key(1), value: encodeValue(1) })]);
    await other.close();
    const ids = { start: Uint8Array.of(0, 6), end: Uint8Array.of(0, 7) };
    // What the other client has left is deleted. That of the late one is still needed.
    await vi.waitFor(async () =>
      expect(await own.getRange({ range: ids, limit: 10, reverse: false })).toHaveLength(1),
    );
    open();
    expect(await committed).toEqual([expect.any(String)]);
    expect(await sum()).toBe(1n);
  } finally {
    await late.close();
  }
});

describe("a watch", () => {
  it("reports what was committed before the owner knew of it", async () => {
    await engine.get(key(0));
    const reported = new Promise<void>((resolve) => {
      engine.watchRanges([{ start: key(0), end: key(5) }], (keys) => {
        expect(keys).toEqual([key(1)]);
        resolve();
      });
    });
    // In the same turn, on the engine of the owner.
    await owner.engine.commit([write({ type: "set", key: key(1), value: encodeValue(1) })]);
    await reported;
  });

  it("reports changes that were made while it was disconnected, with their keys", async () => {
    const changes: unknown[] = [];
    engine.watchRanges([{ start: key(0), end: key(9) }], (keys) => changes.push(keys));
    await engine.commit([write({ type: "set", key: key(1), value: encodeValue(1) })]);
    await sleep(20);
    owner.disconnect();
    await owner.engine.commit([write({ type: "set", key: key(2), value: encodeValue(1) })]);
    await sleep(200);
    expect(changes.flat()).toEqual([key(1), key(2)]);
  });

  it("reports that anything may have changed, if a new owner is lost before its report", async () => {
    const changes: unknown[] = [];
    engine.watchRanges([{ start: key(0), end: key(9) }], (keys) => changes.push(keys));
    await engine.get(key(0));
    owner.restart();
    // No owner has recorded this change.
    await owner.engine.commit([write({ type: "set", key: key(1), value: encodeValue(1) })]);
    const log = owner.server.changes;
    const since: number[] = [];
    const watchRanges = log.watchRanges.bind(log);
    log.watchRanges = (ranges, counter, onChange) => {
      since.push(counter);
      const stop = watchRanges(ranges, counter, onChange);
      if (since.length === 1) owner.disconnect();
      return stop;
    };
    await expect.poll(() => since).toHaveLength(2);
    await engine.get(key(0));
    await expect.poll(() => changes).toEqual([undefined]);
  });

  it("reports to a client that does not read without keeping every key", async () => {
    const socket = await owner.connect();
    const { FrameWriter } = await import("../src/engine/remote/frames.js");
    const frames = new FrameWriter(socket);
    frames.write([1, "hello", 1, randomBytes(16)]);
    frames.write([2, "watchRanges", 1, [[key(0), Uint8Array.of(9)]], 0]);
    await sleep(50);
    socket.pause();
    const value = encodeValue(1);
    for (let n = 0; n < 300; n++) {
      const mutations = Array.from({ length: 50 }, (_, i): StoredMutation => {
        const long = new Uint8Array(2000).fill(0x61);
        return { type: "set", key: Uint8Array.of(2, ...long, n, i, 0), value };
      });
      await owner.engine.commit([{ checks: [], mutations, sync: false }]);
    }
    // 30 MB of keys have changed.
    expect(owner.unreadBytes()).toBeLessThan(2e6);
    socket.destroy();
  });

  it("reads few ranges for a client that does not read, and the others when it reads", async () => {
    const value = encodeValue("x".repeat(1_000_000));
    for (let n = 0; n < 8; n++) {
      const set: StoredMutation = { type: "set", key: Uint8Array.of(2, n, 0), value };
      await owner.engine.commit([{ checks: [], mutations: [set], sync: false }]);
    }
    let reads = 0;
    const { engine } = owner;
    const getRange = engine.getRange.bind(engine);
    engine.getRange = (read) => {
      reads++;
      return getRange(read);
    };
    const socket = await owner.connect();
    const { FrameReader, FrameWriter } = await import("../src/engine/remote/frames.js");
    const frames = new FrameWriter(socket);
    frames.write([1, "hello", 1, randomBytes(16)]);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    const requests = 30;
    for (let id = 2; id < 2 + requests; id++)
      frames.write([id, "range", [Uint8Array.of(2, 0), Uint8Array.of(3)], 8, false]);
    await expect.poll(() => owner.unreadBytes()).toBeGreaterThan(8e6);
    await sleep(100);
    expect(reads).toBeLessThanOrEqual(8);
    const answers = new FrameReader(Number.POSITIVE_INFINITY, true);
    const answered = new Set<unknown>();
    const done = new Promise<void>((resolve) => {
      socket.on("data", (chunk) => {
        for (const message of answers.push(chunk)) answered.add((message as unknown[])[0]);
        if (answered.size === requests) resolve();
      });
    });
    socket.resume();
    await done;
    expect(reads).toBe(requests);
    socket.destroy();
  });
});

describe("bytes that are not the protocol", () => {
  it("end the connection, and the owner continues", async () => {
    const seeds: unknown[] = [
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.alloc(64),
      randomBytes(64),
      Buffer.from([0xff, 0xff, 0xff, 0xff, 1]),
      Buffer.from([0, 0, 0, 1, 0xc1]),
    ];
    for (const bytes of seeds) {
      const socket = await owner.connect();
      const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
      socket.resume();
      socket.end(bytes as Buffer);
      await closed;
    }
    expect(await engine.commit([add])).toEqual([expect.any(String)]);
    expect(owner.server.connections).toBe(1);
  });
});

it("a page of the log is read again if its view was lost with the owner", async () => {
  const kv = await openKv(owner.engine, { log: {} });
  const { versionstamp } = await kv.set(["a"], 1);
  const openView = engine.openView!;
  let views = 0;
  engine.openView = async (options) => {
    const view = await openView(options);
    if (views++ === 0) owner.restart();
    return view;
  };
  const { records } = await readLogPage(engine, undefined, 10);
  expect(records.map((record) => record.versionstamp)).toEqual([versionstamp]);
  expect(views).toBe(2);
});
