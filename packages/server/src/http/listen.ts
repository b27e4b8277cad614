import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { createServer as createHttp1, type RequestListener, type Server } from "node:http";
import {
  createServer as createHttp2,
  createSecureServer,
  type Http2SecureServer,
  type SecureServerOptions,
} from "node:http2";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { InvalidOptionError } from "@keywright/core";

/** The certificate of a server and its key, in PEM format. */
export interface TlsOptions {
  readonly cert: string | Uint8Array;
  readonly key: string | Uint8Array;
}

export interface Listeners {
  readonly onRequest: RequestListener;
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

const requestTimeout = 30_000;
const headersTimeout = 10_000;
const keepAliveTimeout = 60_000;
/** What a client of HTTP/2 without TLS sends first. */
const preface = "PRI";

/** Returns a server for HTTP/1.1 and HTTP/2 on one port. */
export function httpServer(
  { onRequest, onUpgrade }: Listeners,
  tls: TlsOptions | undefined,
): NetServer {
  const onHttp2 = onRequest as unknown as Http2Listener;
  if (tls !== undefined) {
    const options = { allowHTTP1: true, cert: pem(tls.cert), key: pem(tls.key) };
    const server = secureServer(options, onHttp2);
    server.on("upgrade", onUpgrade);
    return server as unknown as NetServer;
  }
  const http1: Server = createHttp1(
    { requestTimeout, headersTimeout, keepAliveTimeout },
    onRequest,
  );
  http1.on("upgrade", onUpgrade);
  const http2 = createHttp2(onHttp2 as never);
  return createServer((socket: Socket) => {
    socket.setTimeout(headersTimeout, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.once("data", (chunk: Buffer) => {
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(chunk);
      const isHttp2 = chunk.subarray(0, preface.length).toString("latin1") === preface;
      (isHttp2 ? http2 : http1).emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  });
}

type Http2Listener = Parameters<typeof createHttp2>[0];

function secureServer(options: SecureServerOptions, onRequest: Http2Listener): Http2SecureServer {
  try {
    return createSecureServer(options, onRequest as never);
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
