import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type AmbiguousCommitError, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Caller } from "../../src/connection/caller.js";
import { postgresEngine } from "../../src/index.js";
import { settingsOf } from "../../src/settings/engine-settings.js";
import { PostgresServer } from "../server/postgres-server.js";
import { describeOnServer } from "../server/shared-server.js";

const run = promisify(execFile);
const unavailable = { code: "KW_ENGINE_UNAVAILABLE", retryable: true, reason: "no server answers" };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server that is no PostgreSQL. Returns its address, and its open connections. */
async function start(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .resume()
      .on("error", () => undefined)
      .on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return { url: `postgres://keywright@127.0.0.1:${port}/postgres`, sockets };
}

describe("postgresEngine gives up at the deadline, and closes its connections", () => {
  it.each<[string, (socket: Socket) => void]>([
    ["a server that never answers", () => undefined],
    ["a server that closes each connection", (socket) => socket.destroy()],
    ["a server of another kind", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ])("at %s", async (_, onConnection) => {
    const { url, sockets } = await start(onConnection);
    const opening = postgresEngine({ connectionString: url, deadline: 400 });
    await expect(opening).rejects.toMatchObject(unavailable);
    while (sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it("at a host that has no address", async () => {
    const connectionString = "postgres://keywright@keywright.invalid/postgres";
    const opening = postgresEngine({ connectionString, deadline: 300 });
    await expect(opening).rejects.toMatchObject(unavailable);
  });

  it("so that the process ends by itself", async () => {
    const { url } = await start(() => undefined);
    const script = fileURLToPath(new URL("../open-in-process.mjs", import.meta.url));
    const { stdout } = await run(process.execPath, [script, url], { timeout: 120_000 });
    expect(stdout.trim()).toBe("KW_ENGINE_UNAVAILABLE");
  });
});

describe("a call is tried until its deadline, and says how long it waited", () => {
  const statement = { name: "s", text: "SELECT 1", values: [] };
  const deadline = 400;

  /** A connection whose statements fail as `query` does. No other connection can be made. */
  function callerWith(query: () => Promise<unknown>, maxConnections = 10): Caller {
    const connection = Object.assign(new EventEmitter(), {
      ...{ query, ref: () => undefined, unref: () => undefined, end: async () => undefined },
      connection: { stream: { destroy: () => undefined } },
    });
    const connectionString = "postgres://keywright@127.0.0.1:1/postgres";
    const settings = settingsOf({ connectionString, deadline, maxConnections });
    return new Caller(settings, connection as never);
  }

  it("after a commit whose connection was lost", async () => {
    const caller = callerWith(() => Promise.reject(new Error("lost")));
    const start = performance.now();
    const error = await caller.write(statement).catch((thrown: unknown) => thrown);
    const passed = performance.now() - start;
    expect(error).toMatchObject({
      code: "KW_COMMIT_AMBIGUOUS",
      remedy: "Read what the commit would have changed before you repeat it.",
    });
    const { waited } = error as AmbiguousCommitError;
    expect(waited).toBeGreaterThanOrEqual(deadline - 20);
    expect(waited).toBeLessThanOrEqual(Math.ceil(passed));
  });

  it("while all connections are in use", async () => {
    const caller = callerWith(() => new Promise(() => undefined), 1);
    const first = caller.read(statement).catch(() => undefined);
    await expect(caller.read(statement)).rejects.toMatchObject({
      code: "KW_ENGINE_UNAVAILABLE",
      reason: "all connections of this engine were in use",
    });
    caller.close();
    void first;
  });
});

describeOnServer("a database on a server that hangs closes without waiting for it", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  // The longest deadline. The tests time out before an attempt, which has half of it.
  const options = () => ({ connectionString: server.url, deadline: 60_000 });
  const timeout = 28_000;
  const ended = { status: "rejected", reason: { code: expect.stringMatching(/^KW_/) } };

  it("while reads are in flight and connections are being opened", { timeout }, async () => {
    const engine = await postgresEngine(options());
    const key = Uint8Array.of(2, 65, 0);
    server.signal("SIGSTOP");
    try {
      engine.watch([key], () => undefined);
      const reads = Promise.allSettled([engine.get(key), engine.getMany([key])]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await engine.close();
      expect(await reads).toMatchObject([ended, ended]);
    } finally {
      server.signal("SIGCONT");
    }
  });

  it("while a watch and a queue are open", { timeout }, async () => {
    const kv = await openKv(await postgresEngine(options()));
    const reader = kv.watch([["a"]]).getReader();
    await reader.read();
    const listening = kv.listenQueue(() => undefined);
    server.signal("SIGSTOP");
    try {
      await kv.close();
      await listening;
      expect((await reader.read()).done).toBe(true);
    } finally {
      server.signal("SIGCONT");
    }
  });
});
