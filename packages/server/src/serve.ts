import type { AddressInfo, Socket } from "node:net";
import type { EmbeddedKv } from "@keywright/core";
import { httpServer, listen } from "./http/listen.js";
import { RequestHandler } from "./request-handler.js";
import type { ServeOptions } from "./serve-options.js";

/** A server that listens. */
export interface KvServer extends AsyncDisposable {
  /** The URL for `openKv` and `Deno.openKv`. */
  readonly url: string;
  /**
   * Accepts no more requests, and ends when those that have begun are answered. The database stays
   * open.
   */
  close(): Promise<void>;
}

const defaultPort = 4512;

/**
 * Serves a database over HTTP: to clients of Deno KV, such as `Deno.openKv(url)`, if it was created
 * with `compat: "deno"`, and to `openKv(url)` in any case.
 *
 * ```ts
 * const kv = await openKv("./data", { compat: "deno" });
 * const server = await serve(kv, { tokens: [process.env.DENO_KV_ACCESS_TOKEN] });
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid.
 */
export async function serve(kv: EmbeddedKv, options: ServeOptions): Promise<KvServer> {
  const handler = new RequestHandler(kv, options);
  const { host = "127.0.0.1", port = defaultPort, tls, maxConnections = 10_000 } = options;
  const server = httpServer(
    {
      onRequest: (request, response) => void handler.answer(request, response),
      onUpgrade: (request, socket, head) => handler.upgrade(request, socket, head),
    },
    tls,
    handler.limits,
  );
  server.maxConnections = maxConnections;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await listen(server, port, host);
  const { port: actual } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await handler.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    })();
    return closing;
  };
  return {
    url: `${tls === undefined ? "http" : "https"}://${name}:${actual}${handler.path}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}
