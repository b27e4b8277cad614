import type { Socket } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { openKv } from "@keywright/core";
import { type BackupSink, backup, restore } from "@keywright/core/backup";
import { BufferedBytes } from "@keywright/core/serve";
import { describe, expect, it } from "vitest";
import { decodeMessage } from "../src/connect/decode-message.js";
import {
  AtomicWriteSchema,
  SnapshotReadOutputSchema,
  SnapshotReadSchema,
  WatchSchema,
} from "../src/connect/generated/datapath_pb.js";
import { TokenUse } from "../src/http/token-use.js";
import { connectRaw, untilClosed } from "./raw-clients.js";
import { readToken, token, withServer } from "./served.js";

const authorized = { authorization: `Bearer ${token}` };
const all = { start: Uint8Array.of(2, 0), end: Uint8Array.of(3) };

async function read(url: string, limits: readonly number[]): Promise<Response> {
  const ranges = limits.map((limit) => ({ ...all, limit }));
  return await fetch(new URL("/kv/snapshot_read", url), {
    method: "POST",
    headers: authorized,
    body: toBinary(SnapshotReadSchema, create(SnapshotReadSchema, { ranges })),
  });
}

it("a server has at most maxConnections, and accepts another one when one has ended", async () => {
  await withServer({ maxConnections: 2 }, async ({ url }) => {
    const [first, second] = await Promise.all([connectRaw(url), connectRaw(url)]);
    // The server closes it at once.
    await untilClosed(await connectRaw(url));
    first!.destroy();
    for (;;) {
      const socket = await connectRaw(url);
      socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      if ((await untilClosed(socket)).includes(" 200 OK")) break;
    }
    second!.destroy();
  });
});

it("a request reads at most 100 ranges and 1,000 entries", async () => {
  await withServer({ compat: "deno" }, async ({ url }, kv) => {
    await kv.set(["a"], 1);
    const hundred = Array.from({ length: 100 }, () => 10);
    const answer = await read(url, hundred);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const { ranges } = fromBinary(SnapshotReadOutputSchema, bytes);
    expect(ranges.map(({ values }) => values.length)).toEqual(hundred.map(() => 1));
    expect((await read(url, [1000])).status).toBe(200);
    for (const [limits, reason] of [
      [[...hundred, 1], "A request can read at most 100 ranges."],
      [[1000, 1], "A request can read at most 1000 entries"],
      [[1001], "A request can read at most 1000 entries"],
      [[0], "and each range at least 1"],
      [[-1, 1000], "and each range at least 1"],
    ] as const) {
      const refused = await read(url, limits);
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain(reason);
    }
  });
});

describe("commits that together are larger than a request", () => {
  const maxBodyBytes = 64 * 1024;
  const text = "x".repeat(10_000);

  it("are made in their order, without one that is too large by itself", async () => {
    await withServer({ maxBodyBytes }, async ({ url }, kv) => {
      await using client = await openKv(url, { token });
      const large = client.set(["large"], "x".repeat(maxBodyBytes));
      const refused = expect(large).rejects.toMatchObject({ code: "KW_LIMIT_EXCEEDED" });
      const commits = Array.from({ length: 100 }, (_, n) => client.set(["row", n], text));
      const stamps = (await Promise.all(commits)).map(({ versionstamp }) => versionstamp);
      await refused;
      expect([...stamps].sort()).toEqual(stamps);
      expect((await kv.get(["row", 99])).value).toBe(text);
    });
  });

  it("can be those of a restore", async () => {
    await using source = await openKv();
    await Promise.all(Array.from({ length: 100 }, (_, n) => source.set(["row", n], text)));
    const objects = new Map<string, Uint8Array>();
    const sink: BackupSink = {
      put: async (name, bytes) => void objects.set(name, bytes),
      get: async (name) => objects.get(name),
      list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)),
      delete: async (name) => void objects.delete(name),
    };
    await backup(source, sink);
    await withServer({ maxBodyBytes }, async ({ url }, kv) => {
      await using client = await openKv(url, { token });
      await restore(sink, client);
      expect((await kv.get(["row", 99])).value).toBe(text);
    });
  });
});

it("a request watches at most 10 keys", async () => {
  await withServer({ compat: "deno" }, async ({ url }) => {
    const watch = async (count: number) => {
      const keys = Array.from({ length: count }, () => ({ key: Uint8Array.of(2, 0x61, 0) }));
      const answer = await fetch(new URL("/kv/watch", url), {
        method: "POST",
        headers: authorized,
        body: toBinary(WatchSchema, create(WatchSchema, { keys })),
      });
      await answer.body?.cancel();
      return answer.status;
    };
    expect(await watch(10)).toBe(200);
    expect(await watch(11)).toBe(400);
    expect(await watch(0)).toBe(400);
  });
});

describe("a request of millions of fields", () => {
  const bytes = 4 * 1024 * 1024;
  /** A nested message that fills the body. */
  const nested = (tag: number, ofField: (i: number) => number) => {
    const size = bytes - 5;
    const length = [0, 7, 14, 21].map(
      (shift) => ((size >> shift) & 0x7f) | (shift < 21 ? 0x80 : 0),
    );
    return Uint8Array.from([tag, ...length, ...Array.from({ length: size }, (_, i) => ofField(i))]);
  };
  const empty = (tag: number) => Uint8Array.from({ length: bytes }, (_, i) => (i % 2 ? 0 : tag));

  it.each<[string, string, () => Uint8Array]>([
    ["checks", "atomic_write", () => empty(0x0a)],
    ["mutations", "atomic_write", () => empty(0x12)],
    ["messages", "atomic_write", () => empty(0x1a)],
    ["keys of a message", "atomic_write", () => nested(0x1a, (i) => (i % 2 ? 0 : 0x1a))],
    ["intervals of a message", "atomic_write", () => nested(0x1a, (i) => (i % 2 ? 0 : 0x20))],
    ["unknown fields", "atomic_write", () => empty(0x78)],
    ["ranges", "snapshot_read", () => empty(0x0a)],
    ["keys", "watch", () => empty(0x0a)],
  ])("is refused before it is decoded: %s", async (_, path, bodyOf) => {
    await withServer({ compat: "deno" }, async ({ url }) => {
      const body = bodyOf();
      const refused = await fetch(new URL(`/kv/${path}`, url), {
        method: "POST",
        headers: authorized,
        body,
      });
      expect(refused.status).toBe(400);
      expect(await refused.text()).toBe("A request can have at most 20000 fields.\n");
    });
  });

  it("is refused if it is a packed list of numbers, groups or no message", () => {
    const packed = (size: number) => Uint8Array.from([0x1a, 5 + size, 0x22, size]);
    const list = new Uint8Array(30_000);
    const body = Uint8Array.from([0x1a, 0xb4, 0xea, 1, 0x22, 0xb0, 0xea, 1, ...list]);
    expect(() => decodeMessage(AtomicWriteSchema, body)).toThrow("at most 20000 fields");
    for (const wrong of [[0x0b], [0x0a, 9], [0x0a], [0x08, ...Array(11).fill(0xff)], packed(3)])
      expect(() => decodeMessage(AtomicWriteSchema, Uint8Array.from(wrong))).toThrow(
        "The body is not a message of KV Connect",
      );
  });

  it("is refused if its fields have wrong types, so that the decoder would find others", () => {
    // The decoder reads a mutation of 4 bytes, which expires at 60,000, and then 30,000 messages.
    const hidden = [0x10, 4, 0x22, 0xe0, 0xd4, 3];
    const messages = Array.from({ length: 60_000 }, (_, i) => (i % 2 ? 0 : 0x1a));
    const number = [0x12, 2, 0x22, 0];
    const key = [0x0a, 2, 0x08, 0];
    for (const wrong of [[...hidden, ...messages], number, key])
      expect(() => decodeMessage(AtomicWriteSchema, Uint8Array.from(wrong))).toThrow(
        "The body is not a message of KV Connect",
      );
  });

  it("is decoded as before if it has few fields", () => {
    const mutations = Array.from({ length: 1000 }, (_, i) => ({
      ...{ key: Uint8Array.of(2, i & 0xff, 0), mutationType: 1, expireAtMs: 2n ** 62n },
      value: { data: new Uint8Array(i), encoding: 1 },
    }));
    const message = create(AtomicWriteSchema, {
      mutations,
      checks: [{ key: Uint8Array.of(2, 0) }],
      enqueues: [{ payload: Uint8Array.of(1), backoffSchedule: [1, 2 ** 32 - 1] }],
    });
    const decoded = decodeMessage(AtomicWriteSchema, toBinary(AtomicWriteSchema, message));
    expect(decoded.mutations).toHaveLength(1000);
    expect(decoded.mutations.at(-1)).toEqual(message.mutations.at(-1));
    expect(decoded.checks).toEqual(message.checks);
    expect(decoded.enqueues).toEqual(message.enqueues);
  });
});

describe("the clients with one token", () => {
  const headOf = (given: string, path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${given}\r\nContent-Length: ${length}\r\n\r\n`;
  const body = (bytes: number) => new Uint8Array(bytes);
  const send = async (url: string, given: string, bytes: number) => {
    const headers = { authorization: `Bearer ${given}` };
    const target = new URL("/kv/snapshot_read", url);
    return (await fetch(target, { method: "POST", headers, body: body(bytes) })).status;
  };

  it("hold up only each other with bodies, whose bytes count when they arrive", async () => {
    const options = { compat: "deno", maxBufferedBytes: 2e6 } as const;
    await withServer(options, async ({ url }) => {
      const sockets: Socket[] = [];
      const begin = async (arrived: number) => {
        const socket = await connectRaw(url);
        sockets.push(socket);
        socket.write(headOf(readToken, "/kv/snapshot_read", 4e6));
        socket.write(body(arrived));
      };
      for (let n = 0; n < 20; n++) await begin(0);
      // 400 is the answer to a message that is none.
      expect(await send(url, readToken, 100_000)).toBe(400);
      await begin(900_000);
      while ((await send(url, readToken, 200_000)) !== 503);
      expect(await send(url, readToken, 10_000)).toBe(400);
      expect(await send(url, token, 500_000)).toBe(400);
      for (const socket of sockets) socket.destroy();
      while ((await send(url, readToken, 200_000)) !== 400);
    });
  });

  it("hold up only each other with answers that they do not read", async () => {
    const options = { compat: "deno", maxBufferedBytes: 20e6 } as const;
    await withServer(options, async ({ url }, kv) => {
      for (let n = 0; n < 100; n++) await kv.set(["n", n], body(60_000));
      const message = toBinary(
        SnapshotReadSchema,
        create(SnapshotReadSchema, { ranges: [{ ...all, limit: 100 }] }),
      );
      const sockets: Socket[] = [];
      for (let n = 0; n < 10; n++) {
        const socket = await connectRaw(url);
        socket.pause();
        socket.write(headOf(readToken, "/kv/snapshot_read", message.length));
        socket.write(message);
        sockets.push(socket);
      }
      const answer = await read(url, [100]);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(6e6);
      for (const socket of sockets) socket.destroy();
    });
  });

  it("have a bounded number of watches", () => {
    const all = { bodies: new BufferedBytes(1), answers: new BufferedBytes(1) };
    const use = new TokenUse(1, all);
    const ends = Array.from({ length: 10_000 }, () => use.beginWatch());
    expect(() => use.beginWatch()).toThrow(expect.objectContaining({ status: 503 }));
    ends[0]!();
    expect(() => use.beginWatch()).not.toThrow();
  });
});

it("tokens are in no output, metric, refusal or error", async () => {
  const texts: string[] = [];
  const outputs = [process.stdout, process.stderr] as const;
  const writes = outputs.map((output) => output.write);
  for (const output of outputs)
    output.write = (chunk: unknown) => {
      texts.push(String(chunk));
      return true;
    };
  const wrong = "a-wrong-token-of-a-client";
  try {
    await withServer({ compat: "deno", metrics: true }, async ({ url }, kv) => {
      kv.atomic = () => {
        throw new Error(`A failure that names ${token}.`);
      };
      for (const given of [token, readToken, wrong]) {
        const headers = { authorization: `Bearer ${given}` };
        for (const [method, path] of [
          ["POST", "/kv/atomic_write"],
          ["POST", "/kv/snapshot_read"],
          ["POST", `/${given}`],
          ["GET", "/metrics"],
          ["PUT", "/kv/watch"],
        ] as const) {
          const answer = await fetch(new URL(path, url), {
            method,
            headers: { ...headers, ...(method === "PUT" && { "x-denokv-database-id": given }) },
            ...(method !== "GET" && { body: path.endsWith("write") ? "" : "not a message" }),
          });
          texts.push(await answer.text(), JSON.stringify([...answer.headers]));
        }
      }
      const socket = await connectRaw(url);
      socket.write(`GET /attach HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n`);
      socket.write(`Upgrade: keywright\r\nAuthorization: Bearer ${wrong}\r\n\r\n`);
      texts.push(await untilClosed(socket));
      const error = await openKv(url, { token: wrong }).catch((thrown: unknown) => thrown as Error);
      texts.push(String(error), (error as Error).stack ?? "", JSON.stringify(error));
      const closed = await openKv(url.replace(/:\d+/, ":1"), { token }).catch((thrown) => thrown);
      texts.push(String(closed), closed.stack, JSON.stringify(closed), String(closed.cause));
    });
  } finally {
    for (const [i, output] of outputs.entries()) output.write = writes[i]!;
  }
  expect(texts.join("\n")).toContain("The access token is not valid.");
  expect(texts.join("\n")).toContain("The database has failed.");
  for (const text of texts)
    for (const secret of [token, readToken, wrong]) expect(text).not.toContain(secret);
});
