import type { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type EmbeddedKv, InvalidOptionError } from "@keywright/core";
import { type EngineServer, serverOf } from "@keywright/core/serve";
import { atomicWrite } from "./connect/atomic-write.js";
import { databaseId, metadata } from "./connect/metadata.js";
import { snapshotRead } from "./connect/snapshot-read.js";
import { watch, watchedKeys } from "./connect/watch.js";
import { assertKnownHost, isLoopback, type KnownHosts, knownHosts } from "./http/known-hosts.js";
import { httpServer, listen, type TlsOptions } from "./http/listen.js";
import { readBody } from "./http/read-body.js";
import { RequestError } from "./http/request-error.js";
import { type TimeLimits, timeLimits } from "./http/time-limits.js";
import { type Token, type TokenAccess, Tokens } from "./http/tokens.js";

/** How `serve` listens, and to whom it answers. */
export interface ServeOptions {
  /** The port. The default is 4512. Zero takes any that is free. */
  readonly port?: number | undefined;
  /** The address. The default, `127.0.0.1`, accepts connections of the same machine only. */
  readonly host?: string | undefined;
  /** The path of the URL that clients open. The default is `/`. */
  readonly path?: string | undefined;
  /** The tokens that clients must have. Each has at least 16 characters. */
  readonly tokens: readonly Token[];
  /** Needed on a network: without TLS, anyone between can read tokens and data. */
  readonly tls?: TlsOptions | undefined;
  /**
   * The names by which clients call the server. The default is those of the machine itself if
   * `host` is such a name, and any name otherwise.
   */
  readonly hosts?: readonly string[] | undefined;
  /** The origins of web pages that may call the server. The default is none. */
  readonly origins?: readonly string[] | undefined;
  /** The most bytes of a request. The default is 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** The most connections at a time. The default is 10,000. */
  readonly maxConnections?: number | undefined;
  /** How long clients may take. Without a field, its default holds. */
  readonly timeLimits?: Partial<TimeLimits> | undefined;
  /** True to answer `/metrics` in the format of Prometheus. It needs a token too. */
  readonly metrics?: boolean | undefined;
}

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
const dataPath = "kv";
const protobuf = "application/x-protobuf";

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
    timeLimits(options.timeLimits),
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

class RequestHandler {
  /** Begins with a slash and does not end with one, except `/` alone. */
  readonly path: string;
  readonly #kv: EmbeddedKv;
  readonly #server: EngineServer;
  readonly #tokens: Tokens;
  readonly #known: KnownHosts;
  readonly #maxBodyBytes: number;
  readonly #scheme: string;
  readonly #hasMetrics: boolean;
  readonly #requests = new Set<Promise<unknown>>();
  readonly #attached = new Set<{ end(): Promise<void> }>();
  readonly #closing = new AbortController();
  readonly #counts = new Map<string, number>();
  #id: Promise<string> | undefined;

  constructor(kv: EmbeddedKv, options: ServeOptions) {
    const { path = "/", host = "127.0.0.1", maxBodyBytes = 4 * 1024 * 1024 } = options;
    if (!/^\/(?:[\w.~-]+(?:\/[\w.~-]+)*)?$/.test(path))
      throw new InvalidOptionError("path", "must begin with / and must not end with it", "serve");
    if (options.tls === undefined && !isLoopback(host) && options.hosts === undefined)
      throw new InvalidOptionError(
        "hosts",
        "must name the hosts of a server that other machines reach without TLS",
        "serve",
      );
    this.path = path;
    this.#kv = kv;
    this.#server = serverOf(kv);
    this.#tokens = new Tokens(options.tokens);
    this.#known = knownHosts(host, options.hosts, options.origins ?? []);
    this.#maxBodyBytes = maxBodyBytes;
    this.#scheme = options.tls === undefined ? "http" : "https";
    this.#hasMetrics = options.metrics === true;
  }

  /** Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answering = this.#answer(request, response).catch((error: unknown) =>
      refuse(response, error),
    );
    this.#requests.add(answering);
    await answering;
    this.#requests.delete(answering);
    // Any client can send other paths, so they are counted as one.
    const call = this.#callOf(request) ?? "unknown";
    const known = isKnownCall(call) || ["health", "metrics"].includes(call) ? call : "unknown";
    const name = `${known}",status="${response.statusCode}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Serves Keywright's own client, which speaks the protocol of attached processes. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    try {
      assertKnownHost(this.#known, hostOf(request), request.headers.origin);
      if (this.#callOf(request) !== "attach" || request.headers.upgrade !== "keywright")
        throw new RequestError(404, "There is nothing at this path.");
      const { access } = this.#access(request);
      if (this.#closing.signal.aborted) throw new RequestError(503, "The server is closing.");
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: keywright\r\n\r\n",
      );
      if (head.length > 0) socket.unshift(head);
      const connection = this.#server.accept(socket, {
        canWrite: access === "write",
        maxMessageBytes: this.#maxBodyBytes,
      });
      this.#attached.add(connection);
      socket.once("close", () => this.#attached.delete(connection));
    } catch (error) {
      const { status, message } = refusalOf(error);
      socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n${message}\n`);
    }
  }

  /** Resolves when all requests are answered. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#attached].map((connection) => connection.end()));
    await Promise.all(this.#requests);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    assertKnownHost(this.#known, hostOf(request), request.headers.origin);
    const call = this.#callOf(request);
    if (request.method === "GET" && call === "health") {
      send(response, 200, "text/plain; charset=utf-8", "ok\n");
      return;
    }
    if (this.#closing.signal.aborted) throw new RequestError(503, "The server is closing.");
    const { access, token } = this.#access(request);
    if (request.method === "GET" && call === "metrics" && this.#hasMetrics) {
      send(response, 200, "text/plain; version=0.0.4", this.#metrics());
      return;
    }
    if (call === undefined || !isKnownCall(call))
      throw new RequestError(404, "There is nothing at this path.");
    if (request.method !== "POST") throw new RequestError(405, "Use POST.");
    this.#assertDenoMode();
    const body = await readBody(request, this.#maxBodyBytes);
    const { database } = this.#server;
    switch (call) {
      case "": {
        const uuid = await this.#databaseId();
        const base = this.path === "/" ? "" : this.path;
        const endpoint = `${this.#scheme}://${hostOf(request)}${base}/${dataPath}`;
        const answer = metadata(body, { uuid, endpoint, token });
        send(response, 200, "application/json", JSON.stringify(answer));
        return;
      }
      case `${dataPath}/snapshot_read`:
        await this.#assertDatabase(request);
        send(response, 200, protobuf, await snapshotRead(database, body));
        return;
      case `${dataPath}/atomic_write`:
        await this.#assertDatabase(request);
        if (access !== "write") throw new RequestError(403, "This token allows reading only.");
        send(response, 200, protobuf, await atomicWrite(this.#kv, body));
        return;
      default:
        await this.#assertDatabase(request);
        await this.#watch(response, watchedKeys(body));
    }
  }

  async #watch(response: ServerResponse, keys: readonly Uint8Array[]): Promise<void> {
    const ended = new AbortController();
    response.once("close", () => ended.abort());
    const signal = AbortSignal.any([ended.signal, this.#closing.signal]);
    response.writeHead(200, { "content-type": "application/octet-stream" });
    await watch(this.#server.database, keys, response, signal);
    response.end();
  }

  #assertDenoMode(): void {
    if (this.#server.database.mode === "deno") return;
    throw new RequestError(
      400,
      'This database has the key order of Keywright, so clients of Deno KV cannot use it. Create a database with compat: "deno" for them, or open this one with openKv of @keywright/core.',
    );
  }

  async #assertDatabase(request: IncomingMessage): Promise<void> {
    const { headers } = request;
    const given = headers["x-denokv-database-id"] ?? headers["x-transaction-domain-id"];
    if (given !== undefined && given !== (await this.#databaseId()))
      throw new RequestError(400, "This server has another database. Connect again.");
  }

  #databaseId(): Promise<string> {
    this.#id ??= databaseId(this.#server.database);
    return this.#id;
  }

  #access(request: IncomingMessage): { readonly access: TokenAccess; readonly token: string } {
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const access = this.#tokens.accessOf(token);
    if (access === undefined) throw new RequestError(401, "The access token is not valid.");
    return { access, token };
  }

  /** The path of a request after that of the server. Undefined if it is another path. */
  #callOf({ url = "/" }: IncomingMessage): string | undefined {
    const [path = "/"] = url.split("?");
    if (this.path === "/") return path.slice(1);
    if (path === this.path || path === `${this.path}/`) return "";
    return path.startsWith(`${this.path}/`) ? path.slice(this.path.length + 1) : undefined;
  }

  #metrics(): string {
    const lines = [...this.#counts].map(
      ([labels, count]) => `keywright_requests_total{call="${labels}"} ${count}`,
    );
    return [
      "# TYPE keywright_requests_total counter",
      ...lines,
      "# TYPE keywright_requests_in_progress gauge",
      `keywright_requests_in_progress ${this.#requests.size}`,
      "# TYPE keywright_attached_clients gauge",
      `keywright_attached_clients ${this.#attached.size}`,
      "",
    ].join("\n");
  }
}

function isKnownCall(call: string): boolean {
  return call === "" || /^kv\/(snapshot_read|atomic_write|watch)$/.test(call);
}

function hostOf({ headers }: IncomingMessage): string | undefined {
  const authority = headers[":authority"];
  return typeof authority === "string" ? authority : headers.host;
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Uint8Array,
): void {
  response.writeHead(status, { "content-type": type });
  response.end(body);
}

function refuse(response: ServerResponse, error: unknown): void {
  const { status, message } = refusalOf(error);
  if (response.headersSent) response.destroy();
  else send(response, status, "text/plain; charset=utf-8", `${message}\n`);
}

function refusalOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof RequestError) return error;
  // The cause may name files or data, which a client must not learn.
  const { code } = error as { readonly code?: unknown };
  const name = typeof code === "string" && code.startsWith("KW_") ? ` (${code})` : "";
  return { status: 500, message: `The database has failed${name}.` };
}
