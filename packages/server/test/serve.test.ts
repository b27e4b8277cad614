import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { openKv as openDenoKv } from "@deno/kv";
import { encodeKey, openKv } from "@keywright/core";
import { denoOrder, serverOf } from "@keywright/core/serve";
import { describe, expect, it } from "vitest";
import {
  AtomicWriteOutputSchema,
  AtomicWriteSchema,
  AtomicWriteStatus,
  SnapshotReadOutputSchema,
  SnapshotReadSchema,
} from "../src/connect/generated/datapath_pb.js";
import { serve } from "../src/index.js";
import { ProtobufClient } from "./protobuf-client.js";
import { connectRaw, openSession, post, untilClosed } from "./raw-clients.js";
import { readToken, token, withServer } from "./served.js";

const authorized = { authorization: `Bearer ${token}` };

describe("KV Connect", () => {
  const metadata = async (url: string, versions?: number[], headers: object = {}) =>
    await fetch(url, {
      method: "POST",
      headers: { ...authorized, ...headers },
      ...(versions && { body: JSON.stringify({ supportedVersions: versions }) }),
    });

  it.each([
    [undefined, 1, "/"],
    [[1, 2], 2, "/"],
    [[1, 2, 3, 4], 3, "/"],
    [undefined, 1, "/a/b"],
    [[3], 3, "/a/b"],
    [[3], 3, "/a/b/"],
  ])("agrees with %j on version %i, with the endpoint of %s", async (versions, version, path) => {
    const options = { compat: "deno", path: path.replace(/(.)\/$/, "$1") } as const;
    await withServer(options, async ({ url }) => {
      const called = new URL(path, url).href;
      const answer = (await (await metadata(called, versions)).json()) as {
        endpoints: { url: string }[];
      };
      expect(answer).toMatchObject({ version, token });
      const endpoint = answer.endpoints[0]!.url;
      const expected = `${url.replace(/\/$/, "")}/kv`;
      expect(new URL(endpoint, called).href).toBe(expected);
      // Deno takes that of version 1 as it is.
      expect(URL.canParse(endpoint)).toBe(version === 1);
      expect(new URL(endpoint, "https://proxy/a/b").protocol).toBe(
        version === 1 ? "http:" : "https:",
      );
    });
  });

  it("tells version 1 no URL without TLS if a proxy may have added it, but publicUrl", async () => {
    const hosts = ["db.example.com"];
    const ask = async (publicUrl: string | undefined, headers: object) => {
      const options = {
        compat: "deno",
        publicUrl,
        ...(publicUrl === undefined && { hosts }),
      } as const;
      return await withServer(options, async ({ url }) => {
        const socket = await connectRaw(url);
        const { host = new URL(url).host, ...others } = headers as { host?: string };
        const lines = Object.entries(others).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(
          `POST / HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n${lines.join("")}Connection: close\r\nContent-Length: 0\r\n\r\n`,
        );
        return await untilClosed(socket);
      });
    };
    for (const headers of [
      { host: "db.example.com" },
      { "X-Forwarded-Proto": "https" },
      { Via: "1.1 p" },
    ]) {
      const answer = await ask(undefined, headers);
      expect(answer).toContain("HTTP/1.1 400 ");
      expect(answer).toContain("needs the option publicUrl");
      expect(answer).not.toContain("http:");
    }
    expect(await ask(undefined, {})).toContain('"url":"http://127.0.0.1:');
    for (const given of ["https://db.example.com/x", "https://db.example.com/x/"])
      expect(await ask(given, { host: "db.example.com" })).toContain(
        '"url":"https://db.example.com/x/kv"',
      );
    for (const given of [
      "db.example.com",
      "ftp://a",
      "https://a/?b",
      "https://a/#b",
      "https://a:b@c/",
    ])
      await expect(ask(given, {})).rejects.toMatchObject({
        code: "KW_OPTION_INVALID",
        option: "publicUrl",
      });
  });

  it("keeps the id of the database", async () => {
    const kv = await openKv(":memory:", { compat: "deno" });
    const ids = new Set<unknown>();
    for (let start = 0; start < 2; start++) {
      const server = await serve(kv, { port: 0, tokens: [token] });
      const answer = await fetch(server.url, { method: "POST", headers: authorized });
      ids.add(((await answer.json()) as { databaseId: string }).databaseId);
      await server.close();
    }
    await kv.close();
    expect(ids.size).toBe(1);
  });

  it("stores and returns values of all kinds, also of a later format of V8", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      const client = await openDenoKv(url, { accessToken: token });
      const value = {
        date: new Date(1),
        bytes: Uint8Array.of(1, 2),
        big: 2n ** 70n,
        map: new Map([["a", new Set([1])]]),
        expression: /x/g,
        nothing: undefined,
        negative: -0,
      };
      await client.set(["all"], value);
      expect((await kv.get(["all"])).value).toEqual(value);
      expect((await client.get(["all"])).value).toEqual(value);
      client.close();
    });
  });

  it("tells which checks have failed", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const check = (name: string, stamp: string) => ({
        key: encodeKey([name], denoOrder),
        versionstamp: Buffer.from(stamp, "hex"),
      });
      const wrong = "0".repeat(20);
      const checks = [check("a", versionstamp), check("a", ""), check("b", ""), check("b", wrong)];
      const answer = await new ProtobufClient(url).write({ checks });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect(fromBinary(AtomicWriteOutputSchema, bytes)).toMatchObject({
        status: AtomicWriteStatus.AW_CHECK_FAILURE,
        failedChecks: [1, 3],
      });
    });
  });

  it("answers over HTTP/2", async () => {
    await withServer({ compat: "deno" }, async ({ url }, kv) => {
      await kv.set(["a"], Uint8Array.of(7));
      const session = connectHttp2(url);
      const start = Uint8Array.of(2, 0x61, 0);
      const message = create(SnapshotReadSchema, {
        ranges: [{ start, end: Uint8Array.of(...start, 0), limit: 1 }],
      });
      const stream = session.request({
        ":method": "POST",
        ":path": "/kv/snapshot_read",
        ...authorized,
      });
      stream.end(toBinary(SnapshotReadSchema, message));
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      session.close();
      const output = fromBinary(SnapshotReadOutputSchema, Buffer.concat(chunks));
      expect(output.ranges[0]?.values[0]?.value).toEqual(Buffer.of(7));
    });
  });

  it("explains that a database has the other key order", async () => {
    await withServer({}, async ({ url }) => {
      await expect(openDenoKv(url, { accessToken: token })).rejects.toThrow(
        'Create a database with compat: "deno"',
      );
    });
  });
});

describe("access", () => {
  const call = async (url: string, init: RequestInit & { path?: string } = {}) => {
    const { path = "/kv/atomic_write", ...rest } = init;
    const body = toBinary(AtomicWriteSchema, create(AtomicWriteSchema, {}));
    return await fetch(new URL(path, url), {
      method: "POST",
      body,
      headers: authorized,
      ...rest,
    });
  };

  it("needs a token, and writing one that allows it", async () => {
    await withServer({ compat: "deno" }, async ({ url }) => {
      expect((await call(url)).status).toBe(200);
      expect((await call(url, { headers: {} })).status).toBe(401);
      const wrong = await call(url, { headers: { authorization: `Bearer ${token}x` } });
      expect(wrong.status).toBe(401);
      expect(await wrong.text()).not.toContain(token);
      const read = { authorization: `Bearer ${readToken}` };
      expect((await call(url, { headers: read })).status).toBe(403);
      const kv = await openKv(url, { token: readToken, compat: "deno" });
      await expect(kv.set(["a"], 1)).rejects.toMatchObject({ code: "KW_DATABASE_READ_ONLY" });
      await expect(kv.listenQueue(() => undefined)).rejects.toMatchObject({
        code: "KW_DATABASE_READ_ONLY",
      });
      await kv.close();
      await expect(openKv(url, { token: "not one of them." })).rejects.toMatchObject({
        code: "KW_OPTION_INVALID",
        option: "token",
      });
    });
  });

  it("is refused to web pages and by other host names", async () => {
    await withServer({ compat: "deno", origins: ["https://example.com"] }, async ({ url }) => {
      const from = (origin: string) => call(url, { headers: { ...authorized, origin } });
      expect((await from("https://example.com")).status).toBe(200);
      expect((await from("https://evil.example")).status).toBe(403);
      const { hostname, port } = new URL(url);
      const answer = await new Promise<string>((resolve) => {
        const socket = connect(Number(port), hostname, () =>
          socket.write("GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
        );
        socket.once("data", (data) => resolve(String(data)));
      });
      expect(answer).toContain(" 403 ");
    });
  });

  it("is limited to bodies of a size", async () => {
    await withServer({ compat: "deno", maxBodyBytes: 1000 }, async ({ url }) => {
      expect((await call(url, { body: new Uint8Array(1001) })).status).toBe(413);
      const kv = await openKv(url, { token, compat: "deno" });
      await kv.set(["a"], 1);
      await expect(kv.set(["a"], "x".repeat(5000))).rejects.toMatchObject({
        code: "KW_LIMIT_EXCEEDED",
        max: 1000,
      });
      expect((await kv.get(["a"])).value).toBe(1);
      await kv.close();
    });
  });

  it("tells its health to everyone, and figures to those with a token", async () => {
    await withServer({ compat: "deno", metrics: true, path: "/db" }, async ({ url }) => {
      expect(url.endsWith("/db")).toBe(true);
      const at = (path: string, headers = {}) => fetch(`${url}${path}`, { headers });
      expect(await (await at("/health")).text()).toBe("ok\n");
      expect((await at("/metrics")).status).toBe(401);
      const text = await (await at("/metrics", authorized)).text();
      expect(text).toContain('keywright_requests_total{call="health",status="200"} 1');
      expect((await at("/other", authorized)).status).toBe(404);
      expect((await at('/"injected', authorized)).status).toBe(404);
      const after = await (await at("/metrics", authorized)).text();
      expect(after).toContain('call="unknown",status="404"} 2');
      expect(after).not.toContain("other");
    });
  });

  it.each([
    [{ tokens: [] }, "tokens must have at least one token"],
    [{ tokens: ["short"] }, "tokens must have at least 16 characters each"],
    [{ path: "no-slash" }, "path must begin with /"],
    [{ host: "0.0.0.0" }, "hosts must name the hosts"],
    [{ host: "192.0.2.1", hosts: ["a"] }, "host must be an address of this machine"],
    [{ port: 65_536 }, "port must be an integer from 0 to 65535"],
    [{ tls: { cert: "x", key: "y" } }, "tls must have a certificate and its key in PEM format"],
  ])("refuses the options %j", async (options, message) => {
    const kv = await openKv();
    await expect(serve(kv, { tokens: [token], port: 0, ...options })).rejects.toThrow(message);
    await kv.close();
  });
});

it("tells that its port is taken", async () => {
  await withServer({}, async ({ url }, kv) => {
    const port = Number(new URL(url).port);
    await expect(serve(kv, { tokens: [token], port })).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option: "port",
    });
  });
});

it("close acknowledges the commits that have begun, of all clients", async () => {
  const kv = await openKv(":memory:", { compat: "deno" });
  const server = await serve(kv, { port: 0, tokens: [token], metrics: true });
  const { engine } = serverOf(kv).database;
  const commit = engine.commit.bind(engine);
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let onBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    onBegun = resolve;
  });
  const clients = await Promise.all(
    Array.from({ length: 5 }, () => openKv(server.url, { token, compat: "deno" })),
  );
  const watching = clients[0]!.watch([["own", 0]]).getReader();
  await watching.read();
  engine.commit = async (writes) => {
    onBegun();
    await gate;
    return await commit(writes);
  };
  const own = clients.map((client, n) => client.set(["own", n], n));
  const connect = ["http", "http2"].map((name) => {
    const key = encodeKey([name], denoOrder);
    const value = { data: Uint8Array.of(1), encoding: 3 };
    const mutations = [{ key, value, mutationType: 1 }];
    return toBinary(AtomicWriteSchema, create(AtomicWriteSchema, { mutations }));
  });
  const session = openSession(server.url);
  const stream = post(session, "/kv/atomic_write");
  stream.end(connect[1]);
  const http = fetch(new URL("/kv/atomic_write", server.url), {
    method: "POST",
    headers: authorized,
    body: connect[0]!,
  }).then(async (answer) => new Uint8Array(await answer.arrayBuffer()));
  const http2 = untilClosed(stream).then((text) => Buffer.from(text, "latin1"));
  await begun;
  // All others have come too: the first of them holds the gate, and the rest wait in the queue.
  await Promise.all(clients.map((client) => client.get(["own", 0])));
  for (let text = ""; !/^keywright_requests_in_progress 2$/m.test(text); ) {
    const answer = await fetch(new URL("/metrics", server.url), { headers: authorized });
    text = await answer.text();
  }
  const closing = server.close();
  open();
  for (const [n, result] of (await Promise.all(own)).entries())
    expect((await kv.get(["own", n])).versionstamp).toBe(result.versionstamp);
  for (const [name, answer] of [
    ["http", await http],
    ["http2", await http2],
  ] as const) {
    const { status, versionstamp } = fromBinary(AtomicWriteOutputSchema, answer);
    expect(status).toBe(1);
    const stored = await kv.get([name]);
    expect(Buffer.from(versionstamp).toString("hex")).toBe(stored.versionstamp);
  }
  await closing;
  session.destroy();
  await Promise.all(clients.map((client) => client.close()));
  await kv.close();
});
