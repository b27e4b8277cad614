import { readFile } from "node:fs/promises";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";
import type { TlsOptions } from "../src/index.js";
import { token } from "./served.js";

const file = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url));
const cert = await readFile(file("localhost.crt"), "utf8");

/** A certificate for `localhost`. */
export const tls: TlsOptions = { cert, key: await readFile(file("localhost.key"), "utf8") };

/** Connects to a server, with TLS if its URL says so. */
export async function connectRaw(url: string, protocol = "http/1.1"): Promise<Socket> {
  const { hostname: host, port, protocol: scheme } = new URL(url);
  return await new Promise((resolve, reject) => {
    const to = { host, port: Number(port) };
    const socket: Socket =
      scheme === "https:"
        ? connectTls({ ...to, ca: cert, ALPNProtocols: [protocol] }, () => resolve(socket))
        : connectTcp(to, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Opens a session of HTTP/2. */
export function openSession(url: string): ClientHttp2Session {
  const session = connectHttp2(url, { ca: cert });
  session.on("error", () => undefined);
  return session;
}

/** Resolves with the socket of a session when it is connected. */
export async function connectionOf(session: ClientHttp2Session): Promise<Socket> {
  return await new Promise((resolve) =>
    session.once("connect", (_, socket) => resolve(socket as Socket)),
  );
}

/** Begins a request of KV Connect over HTTP/2. */
export function post(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    authorization: `Bearer ${token}`,
  });
  stream.on("error", () => undefined);
  return stream;
}

/** Resolves with what was received when the other side has ended. */
export async function untilClosed(stream: Socket | ClientHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => undefined);
  stream.resume();
  if (!stream.destroyed) await new Promise<void>((resolve) => stream.once("close", resolve));
  return Buffer.concat(chunks).toString("latin1");
}

/** Resolves when a text was received. Rejects if the other side ends before. */
export async function untilReceived(stream: Socket | ClientHttp2Stream, text: string) {
  let received = "";
  await new Promise<void>((resolve, reject) => {
    const onClose = () => reject(new Error(`The other side has ended after: ${received}`));
    stream.once("close", onClose);
    stream.on("data", function onData(chunk: Buffer) {
      received += chunk.toString("latin1");
      if (!received.includes(text)) return;
      stream.off("data", onData);
      stream.off("close", onClose);
      resolve();
    });
  });
}
