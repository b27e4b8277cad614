import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { Packr } from "msgpackr";
import { afterEach, describe, expect, it } from "vitest";
import { FrameReader, FrameWriter } from "../src/engine/remote/frames.js";
import { maxKeys } from "../src/engine/remote/messages.js";
import { BufferedBytes } from "../src/engine/remote/server/buffered-bytes.js";
import type { Access } from "../src/engine/remote/server/served-database.js";
import { encodeKey, encodeValue } from "../src/index.js";
import { connectTo, type Owner, startOwner } from "./remote-engine.js";

let owner: Owner;

afterEach(async () => {
  await owner.close();
});

async function start(
  values: Record<string, number>,
  access: Partial<Access> = {},
  patience = 5000,
) {
  owner = await startOwner({ access, patience });
  const mutations = Object.entries(values).map(([name, bytes]) => ({
    ...({ type: "set", key: encodeKey([name]) } as const),
    value: encodeValue(new Uint8Array(bytes)),
  }));
  await owner.engine.commit([{ checks: [], mutations, sync: false }]);
}

const a = encodeKey(["a"]);

/** A client that sends messages, and reads its answers only after `read`. */
class RawClient {
  readonly socket: Socket;
  readonly #answers = new FrameReader(Number.POSITIVE_INFINITY, true);
  readonly answered: unknown[][] = [];
  #writer: FrameWriter;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.#writer = new FrameWriter(socket);
  }

  static async connect(): Promise<RawClient> {
    const client = new RawClient(await owner.connect());
    client.send(1, "hello", 1, randomBytes(16));
    await new Promise((resolve) => client.socket.once("data", resolve));
    client.socket.pause();
    return client;
  }

  send(...message: unknown[]): void {
    this.#writer.write(message);
  }

  /** Reads until there are so many answers, without reports. */
  async read(count: number): Promise<unknown[][]> {
    let onData: (chunk: Buffer) => void = () => undefined;
    await new Promise<void>((resolve, reject) => {
      this.socket.once("close", () => reject(new Error("the connection has ended")));
      onData = (chunk) => {
        for (const message of this.#answers.push(chunk) as unknown[][])
          if (message[0] !== 0) this.answered.push(message);
        if (this.answered.length >= count) resolve();
      };
      this.socket.on("data", onData);
      this.socket.resume();
    });
    this.socket.off("data", onData);
    this.socket.pause();
    return this.answered;
  }
}

/** Counts the reads of single keys. */
function countGets(): () => number {
  const get = owner.engine.get.bind(owner.engine);
  let count = 0;
  owner.engine.get = (key) => {
    count++;
    return get(key);
  };
  return () => count;
}

describe("a client that does not read its answers", () => {
  it("has few of its requests handled, although all have arrived", async () => {
    await start({ a: 1_000_000 });
    const count = countGets();
    const client = await RawClient.connect();
    for (let id = 2; id < 102; id++) client.send(id, "get", a);
    await expect.poll(() => owner.unreadBytes()).toBeGreaterThan(8e6);
    for (let n = 0; n < 20; n++) await turn();
    expect(count()).toBeLessThan(20);
    expect(owner.unreadBytes()).toBeLessThan(10e6);
    const answers = await client.read(100);
    expect(answers.map(([id]) => id)).toEqual(Array.from({ length: 100 }, (_, n) => n + 2));
    client.socket.destroy();
  });

  it("loses its connection after a time, although more of its requests wait", async () => {
    await start({ a: 1_000_000 }, {}, 20);
    const client = await RawClient.connect();
    for (let id = 2; id < 102; id++) client.send(id, "get", a);
    await expect.poll(() => owner.unreadBytes()).toBeGreaterThan(8e6);
    await expect.poll(() => owner.server.connections).toBe(0);
    client.socket.destroy();
  });

  it("holds up others with which it shares a limit, until it reads or is gone", async () => {
    const buffered = new BufferedBytes(2_000_000, new BufferedBytes(3_000_000));
    await start({ a: 1_000_000 }, { buffered });
    const count = countGets();
    const [first, second, third] = [
      await RawClient.connect(),
      await RawClient.connect(),
      await RawClient.connect(),
    ];
    for (let id = 2; id < 12; id++) first.send(id, "get", a);
    await expect.poll(count).toBe(3);
    expect(buffered.hasRoom).toBe(false);
    second.send(2, "get", a);
    third.send(2, "getMany", [a]);
    for (let n = 0; n < 20; n++) await turn();
    expect(count()).toBe(3);
    // It reads, so its own requests and those of the others continue.
    await Promise.all([first.read(10), second.read(1), third.read(1)]);
    expect(count()).toBe(11);
    expect(buffered.hasRoom).toBe(true);
    for (let id = 12; id < 22; id++) first.send(id, "get", a);
    await expect.poll(count).toBe(14);
    second.send(3, "get", a);
    first.socket.destroy();
    expect(await second.read(2)).toHaveLength(2);
    second.socket.destroy();
    third.socket.destroy();
    await expect.poll(() => buffered.hasRoom).toBe(true);
  });
});

it("large requests that leave no room for each other are handled one after the other", async () => {
  const buffered = new BufferedBytes(1_000_000, new BufferedBytes(1_500_000));
  await start({}, { buffered });
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.connect()));
  const value = encodeValue(new Uint8Array(900_000));
  const mutations = [["set", encodeKey(["b"]), value]];
  const message = new Packr({ useRecords: false }).pack([2, "commit", 1, [[[], mutations, false]]]);
  const frame = Buffer.alloc(4 + message.length);
  frame.writeUInt32BE(message.length);
  frame.set(message, 4);
  // All of them arrive partly before the first one is complete.
  for (const { socket } of clients) socket.write(frame.subarray(0, 600_000));
  await expect.poll(() => buffered.hasRoom).toBe(false);
  for (const { socket } of clients) socket.write(frame.subarray(600_000));
  const answers = await Promise.all(clients.map((client) => client.read(1)));
  expect(answers.map(([answer]) => answer?.slice(0, 2))).toEqual(clients.map(() => [2, null]));
  for (const { socket } of clients) socket.destroy();
  await expect.poll(() => buffered.hasRoom).toBe(true);
});

it("a commit that is too large for the next owner may have been made by the one before", async () => {
  const access = { maxMessageBytes: 10_000 };
  await start({}, access);
  const client = await connectTo(owner);
  const set = { type: "set", key: a, value: encodeValue(new Uint8Array(1000)) } as const;
  const write = { checks: [], mutations: [set], sync: false };
  const commit = owner.engine.commit.bind(owner.engine);
  owner.engine.commit = async (writes) => {
    const outcomes = await commit(writes);
    owner.engine.commit = commit;
    access.maxMessageBytes = 500;
    owner.restart();
    return outcomes;
  };
  expect(await client.commit([write])).toMatchObject([{ code: "KW_COMMIT_AMBIGUOUS" }]);
  expect(await client.commit([write])).toMatchObject([{ code: "KW_LIMIT_EXCEEDED" }]);
  await client.close();
});

it("the requests of one client leave turns to the others", async () => {
  await start({ a: 1 });
  const get = owner.engine.get.bind(owner.engine);
  let count = 0;
  owner.engine.get = (key) => {
    count++;
    // Longer than a slice, so that there are as many slices as requests.
    const end = performance.now() + 6;
    while (performance.now() < end);
    return get(key);
  };
  const many = await RawClient.connect();
  const other = await RawClient.connect();
  for (let id = 2; id < 52; id++) many.send(id, "get", a);
  await expect.poll(() => count, { interval: 0 }).toBeGreaterThan(0);
  other.send(2, "getMany", [a]);
  await other.read(1);
  expect(count).toBeLessThan(50);
  await many.read(50);
  for (const client of [many, other]) client.socket.destroy();
});

describe("a read of many keys", () => {
  it("has all entries, of one state of the database", async () => {
    await start({ a: 100_000, b: 1 });
    const engine = await connectTo(owner);
    const keys = Array.from({ length: 1500 }, (_, n) => (n % 2 === 0 ? a : encodeKey(["b"])));
    const set = { type: "set", key: a, value: encodeValue(1) } as const;
    let reads = 0;
    const openView = owner.engine.openView!.bind(owner.engine);
    owner.engine.openView = async () => {
      const view = await openView();
      const getMany = view.getMany.bind(view);
      view.getMany = async (keys) => {
        // Before each further part, the entry changes.
        if (reads++ > 0) await owner.engine.commit([{ checks: [], mutations: [set], sync: false }]);
        return await getMany(keys);
      };
      return view;
    };
    const entries = await engine.getMany(keys);
    expect(entries).toHaveLength(1500);
    expect(reads).toBeGreaterThan(10);
    const sizes = entries.map((entry) => entry?.value.length);
    expect(new Set(sizes.filter((_, n) => n % 2 === 0))).toEqual(new Set([100_006]));
    expect(new Set(entries.map((entry) => entry?.versionstamp)).size).toBe(1);
    await engine.close();
  });

  it("has at most 1,000 keys in a message, and about as many bytes as one of a range", async () => {
    await start({ a: 100_000 });
    const client = await RawClient.connect();
    client.send(
      2,
      "getMany",
      Array.from({ length: maxKeys + 1 }, () => a),
    );
    client.send(
      3,
      "getMany",
      Array.from({ length: maxKeys }, () => a),
    );
    const [first, second] = await client.read(2);
    expect(first).toMatchObject([2, { name: "LimitExceededError" }, null, expect.anything()]);
    const entries = second![2] as unknown[];
    expect(entries.length).toBeGreaterThan(80);
    expect(entries.length).toBeLessThan(110);
    client.socket.destroy();
  });

  it("is refused by its limit if the engine has no views", async () => {
    await start({ a: 1 });
    Object.assign(owner.engine, { openView: undefined });
    const engine = await connectTo(owner);
    expect(engine.limits.keys).toBe(maxKeys);
    await expect(engine.getMany(new Array(maxKeys).fill(a))).resolves.toHaveLength(maxKeys);
    await engine.close();
  });
});

describe("watches", () => {
  it("of one client take a bounded part of the owner's memory", async () => {
    await start({});
    const engine = await connectTo(owner);
    const keys = Array.from({ length: 4000 }, (_, n) => encodeKey([n]));
    const stop = engine.watch(keys, () => undefined);
    const watch = () => engine.watch(keys, () => undefined);
    watch();
    expect(watch).toThrow(
      expect.objectContaining({
        code: "KW_LIMIT_EXCEEDED",
        message: expect.stringMatching(
          /bytes in the owner .* End some watches, .* ranges\.$/,
        ) as string,
      }),
    );
    stop();
    watch();
    expect(await engine.get(a)).toBeUndefined();
    const client = await RawClient.connect();
    for (let id = 2; id < 5; id++) client.send(id, "watch", id, keys, 0);
    await expect(client.read(3)).rejects.toThrow("the connection has ended");
    await engine.close();
  });

  it("of clients that share a limit take a bounded part together", async () => {
    await start({}, { watched: new BufferedBytes(3_000_000) });
    const keys = Array.from({ length: 3000 }, (_, n) => encodeKey([n]));
    const [first, second] = [await RawClient.connect(), await RawClient.connect()];
    first.send(2, "watch", 1, keys, 0);
    expect(await first.read(1)).toHaveLength(1);
    second.send(2, "watch", 1, [a], 0);
    await expect(second.read(1)).rejects.toThrow("the connection has ended");
    first.send(3, "unwatch", 1);
    await first.read(2);
    const third = await RawClient.connect();
    third.send(2, "watch", 1, [a], 0);
    expect(await third.read(1)).toHaveLength(1);
    for (const client of [first, third]) client.socket.destroy();
  });
});
