import { Buffer } from "node:buffer";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** Milliseconds in which a client reads that it is refused. */
const longestGoodbye = 1000;

/** Answers a refused upgrade and ends its connection, also if the client does not end its side. */
export function refuseUpgrade(socket: Duplex, status: number, text: string): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  socket.on("error", () => undefined);
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  // What the client still sends is not kept.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), longestGoodbye).unref();
  socket.once("close", () => clearTimeout(timer));
}
