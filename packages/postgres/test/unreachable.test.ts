import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { postgresEngine } from "../src/index.js";

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
    const script = fileURLToPath(new URL("open-in-process.mjs", import.meta.url));
    const { stdout } = await run(process.execPath, [script, url], { timeout: 30_000 });
    expect(stdout.trim()).toBe("KW_ENGINE_UNAVAILABLE");
  });
});
