import { Buffer } from "node:buffer";
import {
  createServer as createHttp1,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { createServer as createHttp2, type Http2Server } from "node:http2";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTls, type TLSSocket } from "node:tls";
import { InvalidOptionError } from "@keywright/core";
import { limitSessions } from "./limit-sessions.js";
import type { TimeLimits } from "./time-limits.js";
import { isOwnUpgrade, withoutUpgrade } from "./without-upgrade.js";

/** The certificate of a server and its key, in PEM format. */
export interface TlsOptions {
  readonly cert: string | Uint8Array;
  readonly key: string | Uint8Array;
}

export interface Listeners {
  readonly onRequest: RequestListener;
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** What a client of HTTP/2 without TLS sends first. */
const preface = Buffer.from("PRI");
/** Watches are requests too, so a client may need many at the same time. */
const maxConcurrentStreams = 1000;

/** Returns a server for HTTP/1.1 and HTTP/2 on one port. */
export function httpServer(
  listeners: Listeners,
  tls: TlsOptions | undefined,
  limits: TimeLimits,
): NetServer {
  const http1 = http1Server(listeners, limits);
  const http2 = http2Server(listeners, limits);
  const server =
    tls === undefined
      ? createServer((socket) => untilFirstBytes(socket, limits, { http1, http2 }))
      : tlsServer(tls, limits, (socket) => {
          const isHttp2 = socket.alpnProtocol === "h2";
          (isHttp2 ? http2 : http1).emit("connection", socket);
        });
  server.once("close", () => {
    http1.close();
    http2.close();
  });
  return server;
}

function http1Server({ onRequest, onUpgrade }: Listeners, limits: TimeLimits): Server {
  const { request, headers, idle } = limits;
  const shortest = Math.min(request, headers);
  const server = createHttp1(
    {
      requestTimeout: request,
      headersTimeout: shortest,
      keepAliveTimeout: idle,
      connectionsCheckingInterval: Math.max(Math.ceil(shortest / 4), 10),
    },
    onRequest,
  );
  server.on("upgrade", (request, socket, head) => {
    if (isOwnUpgrade(request)) {
      onUpgrade(request, socket, head);
      return;
    }
    socket.pause();
    socket.unshift(withoutUpgrade(request, head));
    server.emit("connection", socket);
    process.nextTick(() => socket.resume());
  });
  // Node.js begins to check these times when a server listens, and this one never does: it is given
  // its connections.
  server.emit("listening");
  return server;
}

function http2Server({ onRequest }: Listeners, limits: TimeLimits): Http2Server {
  const server = createHttp2({ settings: { maxConcurrentStreams } }, onRequest as never);
  limitSessions(server, limits);
  return server;
}

/** Passes a connection to the server for the version of HTTP with which the client begins. */
function untilFirstBytes(
  socket: Socket,
  { headers }: TimeLimits,
  servers: { readonly http1: Server; readonly http2: Http2Server },
): void {
  const timer = setTimeout(() => socket.destroy(), headers).unref();
  let first = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    first = Buffer.concat([first, chunk]);
    const length = Math.min(first.length, preface.length);
    const isHttp2 = preface.subarray(0, length).equals(first.subarray(0, length));
    // Fewer bytes do not tell it from POST and PUT.
    if (isHttp2 && length < preface.length) return;
    clearTimeout(timer);
    socket.off("data", onData);
    socket.pause();
    socket.unshift(first);
    servers[isHttp2 ? "http2" : "http1"].emit("connection", socket);
    process.nextTick(() => socket.resume());
  };
  socket.on("error", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
  socket.on("data", onData);
}

/** @throws {InvalidOptionError} if the certificate or its key is not valid. */
function tlsServer(
  { cert, key }: TlsOptions,
  { headers }: TimeLimits,
  onConnection: (socket: TLSSocket) => void,
): NetServer {
  const ALPNProtocols = ["h2", "http/1.1"];
  const options = { ALPNProtocols, handshakeTimeout: headers, cert: pem(cert), key: pem(key) };
  try {
    return createTls(options, onConnection);
  } catch (error) {
    const reason = `must have a certificate and its key in PEM format (${(error as Error).message})`;
    throw optionError("tls", reason);
  }
}

/** @throws {InvalidOptionError} if the server cannot listen at this address or on this port. */
export async function listen(server: NetServer, port: number, host: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, port, host);
  }
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return optionError("port", `must be free, and another program listens on ${port}`);
    case "EACCES":
      return optionError("port", `must be one that this user may listen on, unlike ${port}`);
    case "ERR_SOCKET_BAD_PORT":
      return optionError("port", `must be an integer from 0 to 65535, unlike ${port}`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return optionError("host", `must be an address of this machine, unlike ${host}`);
    default:
      return error;
  }
}

function optionError(option: string, reason: string): InvalidOptionError {
  return new InvalidOptionError(option, reason, "serve");
}

function pem(value: string | Uint8Array): string | Buffer {
  return typeof value === "string" ? value : Buffer.from(value);
}
