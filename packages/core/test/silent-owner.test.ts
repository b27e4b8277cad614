import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PendingCalls } from "../src/engine/remote/client/pending-calls.js";
import type { RemoteEngine } from "../src/engine/remote/client/remote-engine.js";
import { FrameReader, FrameWriter } from "../src/engine/remote/frames.js";
import type { AtomicWrite, Engine, KvU64, QueueListener } from "../src/index.js";
import { decodeValue } from "../src/values/decode-value.js";
import { type Network, startNetwork } from "./network.js";
import { connectTo, type Owner, startOwner } from "./remote-engine.js";

const patience = 500;
/** What the owner was asked to deliver, and the outcomes: true if a handler has taken a message. */
let deliver: ((value: Uint8Array) => Promise<void>) | undefined;
let onListen: () => void = () => undefined;
let owner: Owner;
let network: Network;
let engine: RemoteEngine;
beforeEach(async () => {
  deliver = undefined;
  const listen = (deliverValue: (value: Uint8Array) => Promise<void>): QueueListener => {
    deliver = deliverValue;
    onListen();
    return { done: new Promise(() => undefined), end: () => undefined };
  };
  owner = await startOwner({ patience, listen });
  network = await startNetwork(owner.path);
  engine = await connectTo(network, { patience });
});
afterEach(async () => {
  vi.useRealTimers();
  network.resume();
  await engine.close();
  await network.close();
  await owner.close();
});

const key = Uint8Array.of(2, 0x61, 0);
const add: AtomicWrite = {
  checks: [],
  mutations: [{ type: "sum", key, operand: 1n }],
  sync: false,
};

async function sum(of: Engine = owner.engine): Promise<bigint> {
  const entry = await of.get(key);
  return entry === undefined ? 0n : (decodeValue(entry.value) as KvU64).value;
}

/** Resolves when the owner has another client, or one client less. */
async function connections(count: number): Promise<void> {
  await expect.poll(() => owner.server.connections).toBe(count);
}

describe("a connection that transports nothing any more", () => {
  it("is made again by a call, which is answered", async () => {
    await engine.commit([add]);
    network.drop();
    expect(await sum(engine)).toBe(1n);
  });

  it("leaves a commit made once whose answer was lost", async () => {
    network.dropAnswers();
    expect(await engine.commit([add])).toEqual([expect.any(String)]);
    expect(await sum()).toBe(1n);
  });

  it("is noticed by a watch, which reports what it missed", async () => {
    await engine.get(key);
    const reported = new Promise<unknown>((resolve) => {
      engine.watchRanges([{ start: key, end: Uint8Array.of(3) }], resolve);
    });
    await engine.get(key);
    network.drop();
    await owner.engine.commit([add]);
    expect(await reported).toEqual([key]);
  });

  it("is noticed by the owner, which takes back the messages of its listener", async () => {
    const listening = new Promise<void>((resolve) => {
      onListen = resolve;
    });
    engine.listen(() => new Promise(() => undefined), false);
    await listening;
    const delivery = deliver!(Uint8Array.of(1));
    network.drop();
    await expect(delivery).rejects.toThrow("has not taken a message");
  });

  it("is made again if a watch or a listener begins later", async () => {
    owner.disconnect();
    await connections(0);
    const listening = new Promise<void>((resolve) => {
      onListen = resolve;
    });
    engine.listen(async () => undefined, false);
    await listening;
  });
});

describe("an owner that is stopped", () => {
  const silent = { code: "KW_ENGINE_UNAVAILABLE", retryable: true };
  const named = expect.stringContaining("the thread of this process that owns it did not answer");

  it("is named by the calls that wait for it, and by later ones", async () => {
    network.stop();
    const [outcome] = await Promise.all([
      engine.commit([add]),
      expect(engine.get(key)).rejects.toMatchObject({ ...silent, reason: named }),
    ]);
    expect(outcome).toMatchObject([
      { code: "KW_COMMIT_AMBIGUOUS", message: named, remedy: expect.any(String) },
    ]);
    // This one was not sent, because the owner has not greeted again.
    expect(await engine.commit([add])).toMatchObject([silent]);
    network.resume();
    expect(await engine.commit([add])).toEqual([expect.any(String)]);
    // The first commit was made when the owner continued, and the second one never.
    expect(await sum()).toBe(2n);
  });

  it("is named by a warning if watches wait for it", async () => {
    engine.watch([key], () => undefined);
    await engine.get(key);
    const warned = once(process, "warning");
    network.stop();
    const [warning] = await warned;
    expect(warning).toMatchObject({ name: "KeywrightWarning", code: "KW_ENGINE_UNAVAILABLE" });
    expect(warning.message).toBe(
      "Watches of a database wait: the thread of this process that owns it does not answer. They continue when there is an answer.",
    );
  });

  it("does not keep a database from being closed, nor the process of the client alive", async () => {
    network.stop();
    const read = engine.get(key).catch((error: unknown) => error);
    await engine.close();
    expect(await read).toMatchObject({ code: "KW_DATABASE_CLOSED" });
  });

  it("is reported by a client that opens the database", async () => {
    network.stop();
    const opening = connectTo(network, { patience, findOwner: async () => 41_250 });
    await expect(opening).rejects.toMatchObject({
      ...silent,
      reason: expect.stringContaining("the process that owns it (41250) did not answer within"),
    });
  });

  it("and continues in time makes each commit once", async () => {
    const commits = Array.from({ length: 5 }, () => engine.commit([add]));
    network.stop();
    const commit = engine.commit([add]);
    // Longer than a client waits for a silent connection, and shorter than its calls wait.
    await new Promise((resolve) => setTimeout(resolve, patience * 0.75));
    network.resume();
    const outcomes = (await Promise.all([...commits, commit])).flat();
    const made = outcomes.filter((outcome) => typeof outcome === "string").length;
    expect(Number(await sum())).toBeGreaterThanOrEqual(made);
    expect(Number(await sum())).toBeLessThanOrEqual(outcomes.length);
  });
});

describe("an owner that is there", () => {
  it("ends the earlier connection of a client that connects again", async () => {
    network.drop();
    await engine.get(key);
    expect(owner.server.connections).toBe(1);
  });

  it("may take longer for an answer than a client waits for a silent one", async () => {
    const { getMany } = owner.engine;
    owner.engine.getMany = async (keys) => {
      await new Promise((resolve) => setTimeout(resolve, patience * 3));
      return await getMany.call(owner.engine, keys);
    };
    const { connections: before } = owner.server;
    expect(await engine.getMany([key])).toEqual([undefined]);
    expect(owner.server.connections).toBe(before);
  });

  it("shows it while a large commit arrives slowly", async () => {
    network.slowDown(1000);
    const value = new Uint8Array(40_000);
    const set = { type: "set", key, value } as const;
    const write = { checks: [], mutations: [set], sync: false };
    const { connections: before } = owner.server;
    expect(await engine.commit([write])).toEqual([expect.any(String)]);
    expect(owner.server.connections).toBe(before);
  });

  it("keeps the connection of an idle client, and of an idle one of an older version", async () => {
    const socket = await owner.connect();
    new FrameWriter(socket).write([1, "hello", 1, randomBytes(16)]);
    await connections(2);
    await new Promise((resolve) => setTimeout(resolve, patience * 4));
    expect(owner.server.connections).toBe(2);
    socket.destroy();
  });

  it("ends a connection that never says hello", async () => {
    const socket = await owner.connect();
    socket.resume();
    await once(socket, "close");
  });

  it("does not make a commit that arrives after a later one of its client", async () => {
    const id = randomBytes(16);
    const write = [[], [["sum", key, 1n]], false];
    const outcomes = new Map<unknown, unknown>();
    const send = async (...messages: unknown[][]) => {
      const socket = await owner.connect();
      const writer = new FrameWriter(socket);
      const reader = new FrameReader(Number.POSITIVE_INFINITY, true);
      const answered = new Promise<void>((resolve) => {
        socket.on("data", (chunk) => {
          for (const [request, , result] of reader.push(chunk) as unknown[][]) {
            outcomes.set(request, result);
            if (request === messages.at(-1)![0]) resolve();
          }
        });
      });
      writer.write([1, "hello", 1, id]);
      for (const message of messages) writer.write(message);
      await answered;
      socket.destroy();
    };
    await send([10, "commit", 2, [write]]);
    await send([11, "commit", 1, [write]]);
    expect(outcomes.get(10)).toEqual([expect.any(String)]);
    expect(outcomes.get(11)).toMatchObject([{ fields: { code: "KW_COMMIT_AMBIGUOUS" } }]);
    expect(await sum()).toBe(1n);
  });
});

describe("an owner of another version of the protocol", () => {
  /** Starts a process that answers hello and nothing else. */
  async function startOther(version: number): Promise<Pick<Owner, "connect"> & { end(): void }> {
    const server = createServer((socket) => {
      const reader = new FrameReader(Number.POSITIVE_INFINITY, true);
      const writer = new FrameWriter(socket);
      const greeting = { version, instance: "", pid: 1, mode: "specification", limits: {} };
      socket.on("data", (chunk) => {
        for (const message of reader.push(chunk)) {
          const [id, call] = message as unknown[];
          if (call === "hello") writer.write([id, null, greeting, 0]);
        }
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return { connect: async () => connect(port, "127.0.0.1"), end: () => server.close() };
  }

  it("is reported when the database is opened, and when it replaces the owner", async () => {
    const other = await startOther(2);
    const refused = {
      code: "KW_ENGINE_UNAVAILABLE",
      reason: "the process that owns it has another version of Keywright",
    };
    try {
      await expect(connectTo(other)).rejects.toMatchObject(refused);
      let isReplaced = false;
      const place = { connect: () => (isReplaced ? other : owner).connect() };
      const client = await connectTo(place, { patience });
      await client.commit([add]);
      isReplaced = true;
      const sent = client.commit([add]);
      owner.disconnect();
      expect(await sent).toMatchObject([{ code: "KW_COMMIT_AMBIGUOUS", cause: refused }]);
      expect(await client.commit([add])).toMatchObject([refused]);
      await expect(client.get(key)).rejects.toMatchObject(refused);
      await client.close();
    } finally {
      other.end();
    }
  });
});

it("a call has a deadline although its owner is there, except a check of all files", () => {
  const timer = setInterval(() => undefined, 1000);
  try {
    const calls = new PendingCalls(timer);
    const [resolve, reject] = [() => undefined, () => undefined];
    calls.add(1, { call: "verifyFiles", args: [], resolve, reject });
    calls.add(2, { call: "commit", args: [], resolve, reject });
    const ended: unknown[] = [];
    for (let tick = 0; tick < 1000; tick++) {
      calls.tick(true, ({ call }, owner) => ended.push([tick * (patience / 10), call, owner]));
    }
    // Twelve times as long as it waits for an owner that is silent: a minute.
    expect(ended).toEqual([[12 * patience, "commit", "slow"]]);
    expect(calls.entries().map(([id]) => id)).toEqual([1]);
  } finally {
    clearInterval(timer);
  }
});

describe("a commit that was sent long ago, by the clock", () => {
  it("is not sent again, because the owner may have forgotten it", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    network.dropAnswers();
    const commit = engine.commit([add]);
    // The machine sleeps.
    await expect.poll(() => sum()).toBe(1n);
    vi.setSystemTime(Date.now() + 40_000);
    expect(await commit).toMatchObject([{ code: "KW_COMMIT_AMBIGUOUS" }]);
    expect(await sum()).toBe(1n);
  });
});

describe("a message", () => {
  it("that a handler takes on an earlier connection does not end another one", async () => {
    const handled: (() => void)[] = [];
    const listened = () =>
      new Promise<void>((resolve) => {
        onListen = resolve;
      });
    let listening = listened();
    engine.listen(() => new Promise((resolve) => handled.push(resolve)), false);
    await listening;
    const first = deliver!(Uint8Array.of(1));
    await expect.poll(() => handled.length).toBe(1);
    listening = listened();
    owner.disconnect();
    await expect(first).rejects.toThrow("has not taken a message");
    await listening;
    let isTaken = false;
    const second = deliver!(Uint8Array.of(2)).then(() => {
      isTaken = true;
    });
    await expect.poll(() => handled.length).toBe(2);
    handled[0]!();
    await engine.get(key);
    expect(isTaken).toBe(false);
    handled[1]!();
    await second;
  });
});
