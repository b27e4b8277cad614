import { once } from "node:events";
import { createServer, type Http2Server } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { openKv } from "@keywright/core";
import { afterEach, describe, expect, it } from "vitest";
import { AtomicWriteSchema, WatchSchema } from "../../src/connect/generated/datapath_pb.js";
import { limitSessions } from "../../src/http/limit-sessions.js";
import {
  connectionOf,
  connectRaw,
  openSession,
  post,
  tls,
  untilClosed,
  untilReceived,
} from "../raw-clients.js";
import { token, withServer } from "../served.js";

const timeLimits = { headers: 150, request: 300, answer: 300, idle: 200 };
const key = Uint8Array.of(2, 0x61, 0);
const watchMessage = toBinary(WatchSchema, create(WatchSchema, { keys: [{ key }] }));
const request = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${length}\r\n\r\n`;
const health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

const servers: Http2Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe.each([
  ["without TLS", { compat: "deno", timeLimits }],
  ["with TLS", { compat: "deno", timeLimits, tls, hosts: ["localhost"] }],
] as const)("time limits %s", (_name, options) => {
  const serving = <T>(body: (url: string) => Promise<T>) =>
    withServer(options, ({ url }) => body(url.replace("127.0.0.1", "localhost")));

  it("end a connection that sends nothing", async () => {
    await serving(async (url) => {
      await untilClosed(await connectRaw(url));
    });
  });

  it.each([
    ["a part of the headers", "POST /kv/watch HTTP/1.1\r\nHost: local"],
    ["one byte", "P"],
    ["a part of the body", `${request("/kv/atomic_write", 100)}0123`],
    ["a part of the headers of a second request", `${health}POST /kv`],
    ["a part of a body that is refused", `${request("/other", 100)}0123`],
    ["a request, and no other after it", health],
  ])("end a connection of HTTP/1.1 that sends %s", async (_case, text) => {
    await serving(async (url) => {
      const socket = await connectRaw(url);
      socket.write(text);
      const answer = await untilClosed(socket);
      if (text.startsWith(health)) expect(answer).toContain("HTTP/1.1 200 OK");
    });
  });

  it.each([
    ["the first bytes", "PRI * HTTP/2.0\r\n"],
    ["the preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("end a connection of HTTP/2 that sends only %s", async (_case, text) => {
    await serving(async (url) => {
      const socket = await connectRaw(url, "h2");
      socket.write(text);
      await untilClosed(socket);
    });
  });

  it("end a session of HTTP/2 without requests, also if it sends pings", async () => {
    await serving(async (url) => {
      const session = openSession(url);
      const stream = session.request({ ":path": "/health" });
      expect(await untilClosed(stream)).toBe("ok\n");
      const pings = setInterval(() => session.closed || session.ping(() => undefined), 20);
      if (!session.destroyed) await once(session, "close");
      clearInterval(pings);
    });
  });

  it.each(["/kv/atomic_write", "/other"])(
    "end a request to %s over HTTP/2 whose body does not end, and not its session",
    async (path) => {
      await serving(async (url) => {
        const session = openSession(url);
        const stream = post(session, path);
        let status: unknown;
        stream.once("response", (headers) => {
          status = headers[":status"];
        });
        stream.write("0123");
        await untilClosed(stream);
        expect(status).toBe(path === "/other" ? 404 : 408);
        expect(await untilClosed(session.request({ ":path": "/health" }))).toBe("ok\n");
        session.destroy();
      });
    },
  );

  it("do not end watches", async () => {
    await withServer(options, async (server, kv) => {
      const url = server.url.replace("127.0.0.1", "localhost");
      const socket = await connectRaw(url);
      socket.write(request("/kv/watch", watchMessage.length));
      socket.write(watchMessage);
      const session = openSession(url);
      const stream = post(session, "/kv/watch");
      stream.end(watchMessage);
      const streams = [socket, stream];
      await Promise.all(streams.map((each) => once(each, "data")));
      // Connections that began later have reached each of the limits, twice.
      for (let n = 0; n < 2; n++) {
        const slow = await connectRaw(url);
        slow.write(request("/kv/atomic_write", 100));
        const idle = await connectRaw(url);
        idle.write(health);
        await Promise.all([untilClosed(slow), untilClosed(idle)]);
      }
      const changes = Promise.all(streams.map((each) => untilReceived(each, "changed")));
      await kv.set(["a"], "changed");
      await changes;
      session.destroy();
      socket.destroy();
    });
  });
});

it("time limits do not end the connections of openKv", async () => {
  await withServer({ timeLimits }, async ({ url }, kv) => {
    const client = await openKv(url, { token });
    const reader = client.watch([["a"]]).getReader();
    await reader.read();
    for (let n = 0; n < 2; n++) {
      const slow = await connectRaw(url);
      slow.write(request("/kv/atomic_write", 100));
      await untilClosed(slow);
    }
    await kv.set(["a"], 1);
    expect((await reader.read()).value?.[0].value).toBe(1);
    await client.close();
  });
});

it.each([
  [{ headers: 0 }, "timeLimits must have whole milliseconds, at least 1, as headers"],
  [{ request: 0.5 }, "as request"],
  [{ requests: 5 }, "timeLimits must not have the field requests"],
])("time limits %j are refused", async (limits, message) => {
  await expect(withServer({ timeLimits: limits as object }, async () => undefined)).rejects.toThrow(
    message,
  );
});

describe("a body that ends too early", () => {
  const mutations = [1, 2].map((n) => ({
    key: Uint8Array.of(2, 0x60 + n, 0),
    value: { data: Uint8Array.of(n), encoding: 3 },
    mutationType: 1,
  }));
  const one = toBinary(
    AtomicWriteSchema,
    create(AtomicWriteSchema, { mutations: mutations.slice(0, 1) }),
  );
  const both = toBinary(AtomicWriteSchema, create(AtomicWriteSchema, { mutations }));

  it("is no shorter request over HTTP/2", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      for (const end of ["stream", "session", "socket"]) {
        const session = openSession(url);
        const socket = await connectionOf(session);
        const stream = post(session, "/kv/atomic_write");
        stream.write(one);
        // The server has the first part before the end.
        await new Promise((resolve) => session.ping(resolve));
        if (end === "stream") stream.destroy();
        else if (end === "session") session.destroy();
        else socket.destroy();
        await untilClosed(stream);
        session.destroy();
      }
      const session = openSession(url);
      const whole = post(session, "/kv/atomic_write");
      whole.end(both.subarray(one.length));
      await untilClosed(whole);
      expect((await kv.get(["b"])).value).toEqual(Uint8Array.of(2));
      expect((await kv.get(["a"])).value).toBeNull();
      session.destroy();
    });
  });

  it("is no shorter request over HTTP/1.1", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      const socket = await connectRaw(url);
      socket.write(request("/kv/atomic_write", both.length));
      socket.end(one);
      await untilClosed(socket);
      expect((await kv.get(["a"])).value).toBeNull();
    });
  });
});

it("a session of HTTP/2 ends if its client is gone without a word, although it has a watch", async () => {
  const hasStream = new Promise<void>((resolve) => {
    const server = createServer().on("stream", () => resolve());
    servers.push(server);
    limitSessions(server, { headers: 60_000, request: 60_000, answer: 60_000, idle: 60_000 }, 90);
  });
  const [server] = servers as [Http2Server];
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const frame = (type: number, flags: number, stream: number, body: Buffer) => {
    const header = Buffer.alloc(9);
    header.writeUIntBE(body.length, 0, 3);
    header.set([type, flags], 3);
    header.writeUInt32BE(stream, 5);
    return Buffer.concat([header, body]);
  };
  // GET, http, / and the host in HPACK. The client never answers a ping.
  const fields = Buffer.from([0x82, 0x86, 0x84, 0x41, 1, 0x61]);
  const headers = frame(1, 5, 1, fields);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), headers]));
  socket.resume();
  await hasStream;
  await once(socket, "close");
});
