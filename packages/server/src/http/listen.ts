import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { createServer as createHttp1, type RequestListener, type Server } from "node:http";
import { createServer as createHttp2, createSecureServer } from "node:http2";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";

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
  const onHttp2 = onRequest as unknown as Parameters<typeof createHttp2>[0];
  if (tls !== undefined) {
    const options = { allowHTTP1: true, cert: pem(tls.cert), key: pem(tls.key) };
    const server = createSecureServer(options, onHttp2 as never);
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

function pem(value: string | Uint8Array): string | Buffer {
  return typeof value === "string" ? value : Buffer.from(value);
}
