import { connect, createServer, type Socket } from "node:net";
import { Packr } from "msgpackr";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RemoteEngine } from "../src/engine/remote/client/remote-engine.js";
import {
  type EmbeddedKv,
  encodeKey,
  encodeValue,
  type KvEntry,
  openKv,
  type StoredMutation,
  specificationOrder,
} from "../src/index.js";
import { expiryHint } from "../src/kv/expiry/expiry-hint.js";
import { encodeQueuedMessage } from "../src/kv/queue/queued-message.js";
import { checkForeignWrite } from "../src/kv/write/check-foreign-write.js";
import { serverOf } from "../src/serve.js";

let kv: EmbeddedKv;
let engine: RemoteEngine;
let address: { readonly port: number };
let stop: () => Promise<void>;

beforeEach(async () => {
  kv = await openKv();
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    serverOf(kv).accept(socket, { canWrite: true, maxMessageBytes: 1 << 22 });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  address = listener.address() as { port: number };
  engine = await RemoteEngine.open(async () => connect(address.port, "127.0.0.1"));
  stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
  };
});

afterEach(async () => {
  await engine.close();
  await kv.close();
  await stop();
});

const packr = new Packr({ useRecords: false });
const zeros = "0".repeat(20);
const key = encodeKey(["b"]);
const value = encodeValue(1);
const bytes = (...parts: (number | Uint8Array)[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "number" ? part : [...part])));
const time = bytes(0, 0, 0, 0, 0, 0, 0, 1);
const message = (parts: Partial<Parameters<typeof encodeQueuedMessage>[0]> = {}) =>
  encodeQueuedMessage({
    ...{ payload: value, backoffSchedule: [], keysIfUndelivered: [] },
    ...{ failures: 0, isInDelivery: false, ...parts },
  });
const set = (key: Uint8Array, value: Uint8Array, more: object = {}): StoredMutation => ({
  ...{ type: "set", key, value },
  ...more,
});
const graph = (...nodes: unknown[]) => bytes(2, packr.pack(nodes));

async function entriesOf(kv: EmbeddedKv): Promise<KvEntry<unknown>[]> {
  const entries: KvEntry<unknown>[] = [];
  for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
  return entries;
}

describe("a write of another process that a database would not make itself", () => {
  it.each<[string, StoredMutation]>([
    ["the key of a hint without its time", set(Uint8Array.of(0, 3), new Uint8Array(0))],
    ["the key of a hint without its entry", set(bytes(0, 3, time), new Uint8Array(0))],
    ["a hint for no key", set(bytes(0, 3, time, 9), new Uint8Array(0))],
    ["a hint with a value", set(bytes(0, 3, time, key), value)],
    ["a hint for a time that never comes", set(bytes(0, 3, 0xff, time, key), new Uint8Array(0))],
    ["a hint that is a sum", { type: "sum", key: bytes(0, 3, time, key), operand: 1n }],
    ["the key of a message without its id", set(bytes(0, 4, 1, 2, 3), message())],
    ["a message that is none", set(bytes(0, 4, time, time, time), bytes(255, 254))],
    [
      "a message without a value",
      set(bytes(0, 4, time, time, time), message({ payload: bytes(1) })),
    ],
    [
      "a message for a key that is none",
      set(bytes(0, 4, time, time, time), message({ keysIfUndelivered: [bytes(0x80)] })),
    ],
    [
      "a message for no key",
      set(bytes(0, 4, time, time, time), message({ keysIfUndelivered: [bytes()] })),
    ],
    ["a consumer without a name", set(bytes(0, 9), encodeValue([1, zeros, "h"]))],
    ["a position that is none", set(bytes(0, 9, key), encodeValue([1, "here", "h"]))],
    ["a position without a holder", set(bytes(0, 9, key), encodeValue([1, zeros]))],
    ["a position of a later format", set(bytes(0, 9, key), encodeValue([2, zeros, "h"]))],
    ["a lease that is none", set(bytes(0, 10, key), encodeValue([1, "h", "p", "host", 1]))],
    ["a position that is a sum", { type: "sum", key: bytes(0, 9, key), operand: 1n }],
    ["a message that is a sum", { type: "min", key: bytes(0, 4, time, time, time), operand: 1n }],
    ["a key that cannot be decoded", set(bytes(0x80, 1, 2), value)],
    ["the key of a sum that cannot be decoded", { type: "sum", key: bytes(2, 65), operand: 1n }],
    ["a key of the other order", set(bytes(0x21, time), value)],
    ["a value that cannot be decoded", set(key, bytes(255, 254, 253))],
    ["an empty value", set(key, new Uint8Array(0))],
    ["a value that is too deep", set(key, bytes(1, Buffer.alloc(1_000_000, 0x91), 1))],
    [
      "a value of lists that are longer than it is",
      set(key, bytes(1, Buffer.from("dd01000000".repeat(2000), "hex"))),
    ],
    ["a value with an unknown extension", set(key, bytes(1, 0xd4, 0x72, 0x40))],
    ["a graph that is none", set(key, graph([1], ["unknown"]))],
    ["a time of expiry that is none", set(key, value, { expireAt: Number.POSITIVE_INFINITY })],
    ["a negative time of expiry", set(key, value, { expireAt: -1 })],
    ["a hint that is the key of an entry", { type: "deleteExpired", key, hint: { key, dueAt: 1 } }],
  ])("is refused by itself: %s", async (_name, mutation) => {
    const good = { checks: [], mutations: [set(encodeKey(["good"]), value)], sync: false };
    const bad = { checks: [], mutations: [set(encodeKey(["a"]), value), mutation], sync: false };
    const outcomes = await engine.commit([bad, good]);
    expect(outcomes).toEqual([
      expect.objectContaining({
        code: expect.stringMatching(/^KW_(KEY|VALUE)_MALFORMED$/) as string,
      }),
      expect.any(String),
    ]);
    await kv.set(["owner"], 1);
    const entries = await entriesOf(kv);
    expect(entries.map(({ key }) => key)).toEqual([["good"], ["owner"]]);
  });

  it("is stored if the database would make it", async () => {
    const expiring = { type: "set", key, value, expireAt: Date.now() + 1e6 } as const;
    const mutations: StoredMutation[] = [
      ...[expiryHint(expiring, Date.now()), expiring],
      { ...expiryHint({ ...expiring, endsInVersionstamp: true }, Date.now()) },
      { ...expiring, endsInVersionstamp: true },
      set(encodeKey(["sparse"]), encodeValue(Object.assign([], { length: 9, 5: new Map() }))),
      { type: "sum", key: encodeKey(["sum"]), operand: 2n ** 64n - 1n },
      { type: "delete", key: bytes(0x80) },
      { type: "delete", key: bytes(0, 4, 1) },
      { type: "deleteExpired", key, hint: { key: bytes(0, 3, time, key), dueAt: 1 } },
      set(bytes(0, 4, time, time, time), message({ keysIfUndelivered: [key] })),
      set(bytes(0, 9, key), encodeValue([1, zeros, "h"])),
      set(bytes(0, 10, key), encodeValue([1, "h", "p", "host", 1, 1000])),
      { type: "delete", key: bytes(0, 10, key) },
    ];
    expect(await engine.commit([{ checks: [], mutations, sync: false }])).toEqual([
      expect.any(String),
    ]);
    await expect(entriesOf(kv)).resolves.toHaveLength(4);
  });

  it("is refused if it exceeds a limit of the engine, whose hints do not count", () => {
    const check = (limits: object, ...mutations: StoredMutation[]) =>
      checkForeignWrite({ checks: [], mutations, sync: false }, specificationOrder, limits);
    const hint = expiryHint({ type: "set", key, value, expireAt: 1e15 }, 0);
    expect(() => check({ mutations: 1 }, hint, set(key, value))).not.toThrow();
    const tooMuch: [object, ...StoredMutation[]][] = [
      [{ mutations: 1 }, set(key, value), set(key, value)],
      [{ keyBytes: 2 }, set(key, value)],
      [{ keyBytes: 24 }, set(key, value, { endsInVersionstamp: true })],
      [{ valueBytes: 1 }, set(key, value)],
      [{ totalMutationBytes: 4 }, set(key, value)],
    ];
    for (const [limits, ...mutations] of tooMuch)
      expect(() => check(limits, ...mutations)).toThrow(
        expect.objectContaining({ code: "KW_LIMIT_EXCEEDED" }),
      );
  });
});

it("a message of lists that are longer than it is ends the connection", async () => {
  const socket = connect(address.port, "127.0.0.1");
  const body = Buffer.from("dd01000000".repeat(2000), "hex");
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  socket.write(bytes(header, body));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString("latin1")).toContain("a message is not MessagePack");
});

describe("an entry that another program has stored", () => {
  it.each([undefined, "deno"] as const)("gives a typed error with its key: %s", async (compat) => {
    const own = await openKv(undefined, { compat });
    const store = (mutation: StoredMutation) =>
      serverOf(own).database.commit({ checks: [], mutations: [mutation], sync: false });
    const list = async () => await entriesOf(own);
    try {
      await store(set(bytes(0x80, 1), value));
      await expect(list()).rejects.toMatchObject({ code: "KW_CORRUPTION", key: bytes(0x80, 1) });
      await store({ type: "delete", key: bytes(0x80, 1) });
      await store(set(key, bytes(9)));
      await expect(list()).rejects.toMatchObject({ code: "KW_CORRUPTION", key });
      await expect(own.get(["b"])).rejects.toMatchObject({ code: "KW_CORRUPTION", key });
      // The hint of no entry: the database continues.
      await store(set(Uint8Array.of(0, 3), new Uint8Array(0)));
      expect(await own.set(["b"], 1)).toMatchObject({ ok: true });
    } finally {
      await own.close();
    }
  });

  it("makes a report of changed ranges incomplete if its key cannot be decoded", async () => {
    const reader = kv.watchRange([{ prefix: [] }]).getReader();
    await serverOf(kv).database.commit({
      ...{ checks: [], sync: false },
      mutations: [set(bytes(0x80, 1), value), set(key, value)],
    });
    expect((await reader.read()).value).toEqual({ keys: [["b"]], isComplete: false });
    await reader.cancel();
  });
});
