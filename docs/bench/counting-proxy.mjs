import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Starts a TCP proxy in front of a server. `bytes` counts what passes through it. */
export async function countingProxy(hostname, port) {
  const bytes = { sent: 0, received: 0 };
  const sockets = new Set();
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ port, host: hostname, noDelay: true });
    for (const [from, to, kind] of [
      [client, target, "sent"],
      [target, client, "received"],
    ]) {
      sockets.add(from);
      from.on("data", (data) => {
        bytes[kind] += data.length;
        to.write(data);
      });
      from.on("error", () => undefined);
      from.on("close", () => to.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: server.address().port, bytes, stop };
}
