import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { connectRaw, tls, untilClosed, untilReceived } from "./raw-clients.js";
import { token, withServer } from "./served.js";

const upgrade = (path: string, given: string, protocol = "keywright") =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nAuthorization: Bearer ${given}\r\n\r\n`;

it("a refused upgrade ends its connection, also if the client keeps its side open", async () => {
  await withServer({ maxConnections: 3 }, async ({ url }) => {
    const open = async () => {
      const { hostname: host, port } = new URL(url);
      const socket = connect({ host, port: Number(port), allowHalfOpen: true });
      await once(socket, "connect");
      return socket;
    };
    for (const [path, given, status] of [
      ["/attach", "a wrong token, which is long", "401 Unauthorized"],
      ["/other", token, "404 Not Found"],
    ] as const) {
      const sockets: Socket[] = [];
      for (let n = 0; n < 3; n++) sockets.push(await open());
      const answers = sockets.map(async (socket) => {
        socket.write(upgrade(path, given));
        let answer = "";
        for await (const chunk of socket) answer += String(chunk);
        return answer;
      });
      for (const answer of await Promise.all(answers))
        expect(answer).toMatch(
          new RegExp(`^HTTP/1.1 ${status}\r\n(.+\r\n)*Connection: close\r\n\r\n.+\n$`),
        );
      // The clients have ended nothing, and the server accepts others.
      for (;;) {
        const socket = await connectRaw(url);
        socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        if ((await untilClosed(socket)).includes(" 200 OK")) break;
      }
      for (const socket of sockets) socket.destroy();
    }
  });
});

it.each([
  ["without TLS", {}],
  ["with TLS", { tls, hosts: ["localhost"] }],
])("an upgrade to another protocol is ignored %s", async (_name, options) => {
  await withServer({ ...options, compat: "deno" }, async ({ url }) => {
    const socket = await connectRaw(url.replace("127.0.0.1", "localhost"));
    const headers =
      "Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
    socket.write(`GET /health HTTP/1.1\r\n${headers}\r\n`);
    await untilReceived(socket, "ok\n");
    // The connection stays, and bodies are read, also if they come later.
    socket.write(
      `POST / HTTP/1.1\r\n${headers}Authorization: Bearer ${token}\r\nContent-Length: 25\r\n\r\n{"supported`,
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.write('Versions":[3]}');
    await untilReceived(socket, '"version":3');
    socket.write(upgrade("/attach", token, "websocket"));
    await untilReceived(socket, "404 Not Found");
    socket.write(upgrade("/attach", token, "h2c, Keywright"));
    await untilReceived(socket, "101 Switching Protocols");
    socket.destroy();
  });
});

it("/health answers HEAD without a body", async () => {
  await withServer({}, async ({ url }) => {
    const answer = await fetch(new URL("/health", url), { method: "HEAD" });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect((await fetch(new URL("/health", url), { method: "PUT" })).status).toBe(401);
  });
});
