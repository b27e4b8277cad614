import { once } from "node:events";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { openKv as openDenoKv } from "@deno/kv";
import { type EmbeddedKv, encodeKey } from "@keywright/core";
import { denoOrder, serverOf } from "@keywright/core/serve";
import { describe, expect, it } from "vitest";
import {
  SnapshotReadOutputSchema,
  SnapshotReadSchema,
  WatchSchema,
} from "../src/connect/generated/datapath_pb.js";
import { connectRaw, openSession, post, untilClosed } from "./raw-clients.js";
import { token, withServer } from "./served.js";

const entries = 96;
const reads = 12;
const readOf = (limit: number) =>
  toBinary(
    SnapshotReadSchema,
    create(SnapshotReadSchema, {
      ranges: [{ start: Uint8Array.of(2, 0), end: Uint8Array.of(3), limit }],
    }),
  );
/** A read of six megabytes. */
const readMessage = readOf(entries);
const headOf = (message: Uint8Array) =>
  `POST /kv/snapshot_read HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${message.length}\r\n\r\n`;
const head = headOf(readMessage);

async function fill(kv: EmbeddedKv, count = entries): Promise<void> {
  for (let n = 0; n < count; n++) await kv.set(["n", n], new Uint8Array(63_000).fill(n));
}

/** Counts the reads that the server makes. */
function countReads(kv: EmbeddedKv): () => number {
  const { engine } = serverOf(kv).database;
  const getRanges = engine.getRanges!.bind(engine);
  let count = 0;
  engine.getRanges = (ranges) => {
    count++;
    return getRanges(ranges);
  };
  return () => count;
}

/** Reads with a client that does read, several times, and returns the bytes of its last answer. */
async function readElsewhere(url: string, times: number): Promise<number> {
  let bytes = 0;
  for (let n = 0; n < times; n++) {
    const answer = await fetch(new URL("/kv/snapshot_read", url), {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: readMessage,
    });
    bytes = (await answer.arrayBuffer()).byteLength;
  }
  return bytes;
}

describe("a client that reads no answers", () => {
  it("over HTTP/2 lets the server hold few of them, and gets all when it reads", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      await fill(kv);
      const count = countReads(kv);
      const session = openSession(url);
      const streams = Array.from({ length: reads }, () => post(session, "/kv/snapshot_read"));
      for (const stream of streams) stream.end(readMessage);
      // None of them holds up the other client.
      const bytes = await readElsewhere(url, 5);
      expect(bytes).toBeGreaterThan(6e6);
      expect(count() - 5).toBeLessThanOrEqual(2);
      const answers = await Promise.all(streams.map(untilClosed));
      expect(answers.map((answer) => answer.length)).toEqual(streams.map(() => bytes));
      session.destroy();
    });
  });

  it("over HTTP/1.1 lets the server hold few of them, and gets all when it reads", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      await fill(kv);
      const count = countReads(kv);
      const socket = await connectRaw(url);
      socket.pause();
      for (let n = 0; n < reads; n++) {
        socket.write(head);
        socket.write(readMessage);
      }
      await readElsewhere(url, 5);
      expect(count() - 5).toBeLessThanOrEqual(2);
      let received = 0;
      socket.on("data", (chunk) => {
        received += chunk.length;
      });
      socket.resume();
      while (received < reads * 6e6) await once(socket, "data");
      socket.destroy();
    });
  });

  it("is held up by itself, also if all clients together hold too much", async () => {
    await withServer({ compat: "deno", maxBufferedBytes: 16e6 }, async ({ url }, kv) => {
      await fill(kv);
      const count = countReads(kv);
      const sessions = Array.from({ length: 10 }, () => openSession(url));
      for (const session of sessions) post(session, "/kv/snapshot_read").end(readMessage);
      while (count() < 2) await new Promise((resolve) => setImmediate(resolve));
      // The server has seen all requests.
      const pings = sessions.map(
        (session) => new Promise<void>((resolve) => session.ping(() => resolve())),
      );
      await Promise.all(pings);
      expect(count()).toBe(2);
      for (const session of sessions) session.destroy();
      expect(await readElsewhere(url, 1)).toBeGreaterThan(6e6);
    });
  });

  it.each(["HTTP/1.1", "HTTP/2"])("loses them after a time over %s", async (version) => {
    const timeLimits = { answer: 200, idle: 200 };
    await withServer({ compat: "deno", timeLimits, metrics: true }, async ({ url }, kv) => {
      await fill(kv, 300);
      const count = countReads(kv);
      if (version === "HTTP/2") {
        const session = openSession(url);
        const stream = post(session, "/kv/snapshot_read");
        stream.end(readMessage);
        await once(session, "goaway");
        expect((await untilClosed(stream)).length).toBeLessThan(6e6);
        session.destroy();
        return;
      }
      const socket = await connectRaw(url);
      socket.pause();
      // More than the system keeps.
      const message = readOf(300);
      socket.write(headOf(message));
      socket.write(message);
      while (count() === 0) await new Promise((resolve) => setImmediate(resolve));
      await untilIdle(url);
      expect((await untilClosed(socket)).length).toBeLessThan(300 * 63_000);
    });
  });

  it("loses a watch that has something to report", async () => {
    const timeLimits = { answer: 200, idle: 200 };
    await withServer({ compat: "deno", timeLimits }, async ({ url }, kv) => {
      await fill(kv, 10);
      const keys = Array.from({ length: 10 }, (_, n) => ({ key: encodeKey(["n", n], denoOrder) }));
      const message = toBinary(WatchSchema, create(WatchSchema, { keys }));
      const session = openSession(url);
      post(session, "/kv/watch").end(message);
      await once(session, "goaway");
      session.destroy();
    });
  });
});

it("a request whose body is announced as too long is refused before it is sent", async () => {
  await withServer({ compat: "deno", maxBodyBytes: 1000 }, async ({ url }) => {
    const socket = await connectRaw(url);
    socket.write(head.replace(/Content-Length: \d+/, "Connection: close\r\nContent-Length: 1001"));
    expect(await untilClosed(socket)).toContain("HTTP/1.1 413 ");
  });
});

it("bodies that come slowly hold up other requests of their connection only", async () => {
  const maxBodyBytes = 6 * 1024 * 1024;
  await withServer({ compat: "deno", maxBodyBytes }, async ({ url }, kv) => {
    await fill(kv);
    const session = openSession(url);
    // Their length is not announced, so each may have the most bytes.
    const slow = [1, 2, 3].map(() => post(session, "/kv/snapshot_read"));
    for (const stream of slow) stream.write(readMessage);
    expect(await readElsewhere(url, 1)).toBeGreaterThan(6e6);
    for (const stream of slow) stream.end();
    for (const answer of await Promise.all(slow.map(untilClosed)))
      expect(answer.length).toBeGreaterThan(6e6);
    session.destroy();
  });
});

it("a long list has all its entries in answers of many megabytes", async () => {
  await withServer({ compat: "deno" }, async ({ url }, kv) => {
    await fill(kv, 300);
    const client = await openDenoKv(url, { accessToken: token });
    for (const reverse of [false, true]) {
      const seen: unknown[] = [];
      const list = client.list({ prefix: ["n"] }, { batchSize: 500, reverse });
      for await (const { key } of list) seen.push(key[1]);
      const all = Array.from({ length: 300 }, (_, n) => n);
      expect(seen).toEqual(reverse ? all.reverse() : all);
    }
    client.close();
  });
});

describe("several ranges of one request", () => {
  const two = create(SnapshotReadSchema, {
    ranges: ["a", "b"].map((name) => {
      const byte = name.charCodeAt(0);
      return { start: Uint8Array.of(2, byte, 0), end: Uint8Array.of(2, byte, 1), limit: 10 };
    }),
  });

  it("are read from one snapshot while others commit", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      let isDone = false;
      const writing = (async () => {
        for (let n = 0; !isDone; n++) {
          await kv.atomic().set(["a", 1], n).set(["b", 1], n).commit();
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const session = openSession(url);
      try {
        const seen = new Set<string>();
        for (let round = 0; round < 300; round++) {
          const stream = post(session, "/kv/snapshot_read");
          stream.end(toBinary(SnapshotReadSchema, two));
          const bytes = Buffer.from(await untilClosed(stream), "latin1");
          const { ranges } = fromBinary(SnapshotReadOutputSchema, bytes);
          const [a, b] = ranges.map(({ values }) => values[0]?.versionstamp);
          expect(a).toEqual(b);
          seen.add(String(a));
        }
        expect(seen.size).toBeGreaterThan(10);
      } finally {
        isDone = true;
        await writing;
        session.destroy();
      }
    });
  });
});

/** Resolves when the server has answered or given up all other requests. */
async function untilIdle(url: string): Promise<void> {
  for (;;) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(new URL("/metrics", url), { headers });
    if (/^keywright_requests_in_progress 0$/m.test(await answer.text())) return;
  }
}
