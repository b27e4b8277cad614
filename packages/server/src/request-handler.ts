import type { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Duplex } from "node:stream";
import { type EmbeddedKv, InvalidOptionError } from "@keywright/core";
import { BufferedBytes, type EngineServer, serverOf } from "@keywright/core/serve";
import { atomicWrite } from "./connect/atomic-write.js";
import { databaseId, metadata } from "./connect/metadata.js";
import { mostBytes, readOf, snapshotRead } from "./connect/snapshot-read.js";
import { watch, watchedKeys } from "./connect/watch.js";
import { Buffers, type HeldBytes } from "./http/buffers.js";
import { type EndpointOptions, endpointsOf, publicUrlOf } from "./http/endpoints.js";
import {
  assertKnownHost,
  hostOf,
  isLoopback,
  type KnownHosts,
  knownHosts,
} from "./http/known-hosts.js";
import { assertLength, readBody } from "./http/read-body.js";
import { refuseUpgrade } from "./http/refuse-upgrade.js";
import { RequestError } from "./http/request-error.js";
import { type TimeLimits, timeLimits } from "./http/time-limits.js";
import { TokenUse } from "./http/token-use.js";
import { type KnownToken, Tokens } from "./http/tokens.js";
import type { ServeOptions } from "./serve-options.js";

const dataPath = "kv";
const protobuf = "application/x-protobuf";
/** A client that holds this many bytes of requests or answers holds up its own further requests. */
const bufferedPerConnection = 8 * 1024 * 1024;

/** Milliseconds that a server that closes waits for its requests. */
const longestEnding = 5000;

export class RequestHandler {
  readonly limits: TimeLimits;
  /** Begins with a slash and does not end with one, except `/` alone. */
  readonly path: string;
  readonly #kv: EmbeddedKv;
  readonly #server: EngineServer;
  readonly #tokens: Tokens;
  readonly #known: KnownHosts;
  readonly #maxBodyBytes: number;
  readonly #endpoints: EndpointOptions;
  readonly #hasMetrics: boolean;
  readonly #bodies = new Buffers(bufferedPerConnection);
  readonly #answers = new Buffers(bufferedPerConnection);
  readonly #requests = new Set<Promise<unknown>>();
  readonly #attached = new Set<{ end(): Promise<void> }>();
  readonly #closing = new AbortController();
  readonly #counts = new Map<string, number>();
  #id: Promise<string> | undefined;

  constructor(kv: EmbeddedKv, options: ServeOptions) {
    const { path = "/", host = "127.0.0.1", maxBodyBytes = 4 * 1024 * 1024 } = options;
    const { maxBufferedBytes = 256 * 1024 * 1024 } = options;
    if (!(maxBufferedBytes >= 1))
      throw new InvalidOptionError("maxBufferedBytes", "must be at least 1", "serve");
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
    const all = {
      bodies: new BufferedBytes(maxBufferedBytes),
      answers: new BufferedBytes(maxBufferedBytes),
    };
    this.#tokens = new Tokens(options.tokens, () => new TokenUse(maxBufferedBytes, all));
    this.limits = timeLimits(options.timeLimits);
    this.#maxBodyBytes = maxBodyBytes;
    const publicUrl = publicUrlOf(options.publicUrl);
    this.#known = knownHosts(host, options.hosts, publicUrl, options.origins ?? []);
    this.#endpoints = { name: dataPath, path, hasTls: options.tls !== undefined, publicUrl };
    this.#hasMetrics = options.metrics === true;
  }

  /** Resolves when the client has the answer, or is gone. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isSent = sent(response);
    const held: HeldBytes[] = [];
    const answering = this.#answer(request, response, held)
      .catch((error: unknown) => refuse(response, error))
      .then(async () => {
        // Applies only if the client reads nothing in this time.
        response.setTimeout(this.limits.answer, () => response.destroy());
        await isSent;
        for (const bytes of held) bytes.release();
      });
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
      if (this.#callOf(request) !== "attach")
        throw new RequestError(404, "There is nothing at this path.");
      const { access, use } = this.#access(request);
      if (this.#closing.signal.aborted) throw new RequestError(503, "The server is closing.");
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: keywright\r\n\r\n",
      );
      if (head.length > 0) socket.unshift(head);
      const connection = this.#server.accept(socket, {
        canWrite: access === "write",
        maxMessageBytes: this.#maxBodyBytes,
        buffered: use.answers,
        watched: use.watched,
      });
      this.#attached.add(connection);
      socket.once("close", () => this.#attached.delete(connection));
    } catch (error) {
      const { status, message } = refusalOf(error);
      refuseUpgrade(socket, status, `${message}\n`);
    }
  }

  /** Resolves when all requests are answered. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#attached].map((connection) => connection.end()));
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      // A client that reads nothing does not keep the server from closing.
      timer = setTimeout(resolve, longestEnding);
    });
    await Promise.race([Promise.all(this.#requests), patience]);
    clearTimeout(timer);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    held: HeldBytes[],
  ): Promise<void> {
    assertKnownHost(this.#known, hostOf(request), request.headers.origin);
    const call = this.#callOf(request);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && call === "health") {
      send(response, 200, "text/plain; charset=utf-8", "ok\n");
      return;
    }
    if (this.#closing.signal.aborted) throw new RequestError(503, "The server is closing.");
    const { access, use, token } = this.#access(request);
    if (isRead && call === "metrics" && this.#hasMetrics) {
      send(response, 200, "text/plain; version=0.0.4", this.#metrics());
      return;
    }
    if (call === undefined || !isKnownCall(call))
      throw new RequestError(404, "There is nothing at this path.");
    if (request.method !== "POST") throw new RequestError(405, "Use POST.");
    this.#assertDenoMode();
    const body = await this.#body(request, response, use, held);
    const hold = async (bytes: number) =>
      await this.#answers.hold(connectionOf(request), bytes, use.answers);
    const { database } = this.#server;
    switch (call) {
      case "": {
        const uuid = await this.#databaseId();
        const endpoints = endpointsOf(request, this.#endpoints);
        const answer = metadata(body, { uuid, endpoints, token });
        send(response, 200, "application/json", JSON.stringify(answer));
        return;
      }
      case `${dataPath}/snapshot_read`: {
        await this.#assertDatabase(request);
        const ranges = readOf(body);
        const entries = ranges.reduce((sum, { limit }) => sum + limit, 0);
        const bytes = await hold(mostBytes(entries));
        held.push(bytes);
        assertPresent(response);
        const answer = await snapshotRead(database, ranges);
        bytes.resize(answer.length);
        send(response, 200, protobuf, answer);
        return;
      }
      case `${dataPath}/atomic_write`:
        await this.#assertDatabase(request);
        if (access !== "write") throw new RequestError(403, "This token allows reading only.");
        send(response, 200, protobuf, await atomicWrite(this.#kv, database, body));
        return;
      default:
        await this.#assertDatabase(request);
        await this.#watch(response, watchedKeys(body), use, hold);
    }
  }

  async #body(
    request: IncomingMessage,
    response: ServerResponse,
    use: TokenUse,
    held: HeldBytes[],
  ): Promise<Uint8Array> {
    const length = Number(request.headers["content-length"] ?? this.#maxBodyBytes);
    assertLength(length, this.#maxBodyBytes);
    // What a body announces holds up its own connection only.
    const bytes = await this.#bodies.hold(connectionOf(request), length);
    held.push(bytes);
    assertPresent(response);
    const body = await readBody(request, this.#maxBodyBytes, use.bodies, held);
    bytes.resize(body.length);
    return body;
  }

  async #watch(
    response: ServerResponse,
    keys: readonly Uint8Array[],
    use: TokenUse,
    hold: (bytes: number) => Promise<HeldBytes>,
  ): Promise<void> {
    const endWatch = use.beginWatch();
    const ended = new AbortController();
    const { signal } = ended;
    // Not AbortSignal.any, which keeps memory in Node.js 20 for as long as its first signal lives.
    const end = () => ended.abort();
    response.once("close", end);
    this.#closing.signal.addEventListener("abort", end);
    if (response.closed || this.#closing.signal.aborted) end();
    // Sent with the first report, so that a value that cannot be sent is refused by its status.
    response.setHeader("content-type", "application/octet-stream");
    const longestDrain = this.limits.answer;
    try {
      await watch(this.#server.database, keys, response, { signal, hold, longestDrain });
    } finally {
      endWatch();
      this.#closing.signal.removeEventListener("abort", end);
    }
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

  #access(request: IncomingMessage): KnownToken & { readonly token: string } {
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const known = this.#tokens.find(token);
    if (known === undefined) throw new RequestError(401, "The access token is not valid.");
    return { access: known.access, use: known.use, token };
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
    const { calls, connections } = this.#server;
    const attached = this.#attached.size;
    return [
      "# TYPE keywright_requests_total counter",
      ...lines,
      "# TYPE keywright_requests_in_progress gauge",
      `keywright_requests_in_progress ${this.#requests.size}`,
      "# TYPE keywright_attached_clients gauge",
      `keywright_attached_clients ${attached}`,
      "# TYPE keywright_attached_processes gauge",
      `keywright_attached_processes ${Math.max(0, connections - attached)}`,
      "# TYPE keywright_attached_calls_total counter",
      ...[...calls].map(
        ([call, count]) => `keywright_attached_calls_total{call="${call}"} ${count}`,
      ),
      "",
    ].join("\n");
  }
}

function isKnownCall(call: string): boolean {
  return call === "" || /^kv\/(snapshot_read|atomic_write|watch)$/.test(call);
}

/** Returns what the requests of one connection have in common. */
function connectionOf(request: IncomingMessage): object {
  return (request as unknown as Partial<Http2ServerRequest>).stream?.session ?? request.socket;
}

/** Resolves when the client has the answer, or when its connection has ended. */
function sent(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("finish", resolve);
    response.once("close", resolve);
  });
}

/** @throws {RequestError} if the client has gone while it had to wait. */
function assertPresent(response: ServerResponse): void {
  if (response.destroyed || response.closed) throw new RequestError(408, "The client has gone.");
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
  // Deno repeats a request forever after a status of 500 or more, and damage stays.
  const status = code === "KW_CORRUPTION" ? 422 : 500;
  return { status, message: `The database has failed${name}.` };
}
