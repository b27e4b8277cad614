import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { EngineFailedError, LimitExceededError, ReadOnlyError } from "../../errors/core-errors.js";
import type { MaybePromise, QueueListener, ReadView, StoredEntry } from "../engine.js";
import { clientIdBytes, withoutCommitIds } from "./commit-ids.js";
import { FrameError, FrameReader, FrameWriter } from "./frames.js";
import {
  bytesOf,
  type Greeting,
  keyOf,
  listOf,
  malformed,
  numberOf,
  protocolVersion,
  type Report,
  rangeOf,
  wireEntry,
  writeOf,
} from "./messages.js";
import { ReadTurns } from "./read-turns.js";
import { RemoteHandlerError } from "./remote-handler-error.js";
import type { Access, ConnectionHost } from "./served-database.js";
import { ServedViews } from "./served-views.js";
import { wireError } from "./wire-error.js";

/** A client with more requests than this is not read until some are answered. */
const maxRequests = 1024;
/** A client that has this many bytes to read is not read until it has read them. */
const maxUnreadBytes = 8 * 1024 * 1024;
const maxWatches = 10_000;
/** The most entries of an answer. */
const maxEntries = 10_000;
/** Milliseconds that a connection that ends waits for its requests. */
const longestEnding = 5000;
/** More changed keys than this are reported as unknown. */
const maxChangedKeys = 1000;

interface Watch {
  readonly stop: () => void;
  /** Changes that are not sent yet, because the client is slow. Undefined if keys are not known. */
  pending: Uint8Array[] | undefined;
  isPending: boolean;
}

/** The requests of one client, which `messages.ts` describes. */
export class ServerConnection {
  readonly #stream: Duplex;
  readonly #server: ConnectionHost;
  readonly #access: Access;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #watches = new Map<number, Watch>();
  readonly #views: ServedViews;
  readonly #listeners = new Map<number, QueueListener>();
  /** The messages that handlers of the client have, by their number. */
  readonly #deliveries = new Map<number, (isTaken: boolean) => void>();
  /** True if a client that sends nothing is gone. Those of older versions are silent for long. */
  #showsLife = true;
  #hasHeard = false;
  #silence = 0;
  readonly #ranges = new ReadTurns(() => this.#stream.writableLength <= maxUnreadBytes);
  #nextDelivery = 1;
  #requests = 0;
  #clientId: Uint8Array | undefined;
  #isLeaving = false;
  #isEnding = false;
  #isRefused = false;
  #onIdle: (() => void) | undefined;
  #hasEnded = false;

  constructor(stream: Duplex, server: ConnectionHost, access: Access, onEnd: () => void) {
    this.#stream = stream;
    this.#server = server;
    this.#access = access;
    this.#reader = new FrameReader(access.maxMessageBytes, false);
    this.#writer = new FrameWriter(stream);
    this.#views = new ServedViews(server.database.engine);
    stream.on("data", (chunk: Buffer) => this.#onData(chunk));
    stream.on("drain", () => this.#onDrain());
    stream.on("error", () => undefined);
    stream.once("close", () => {
      this.#close();
      onEnd();
    });
  }

  /** Ends the stream when the requests that were read are answered. */
  async end(): Promise<void> {
    if (this.#stream.destroyed) return;
    this.#isEnding = true;
    this.#stream.pause();
    if (this.#requests > 0) {
      await new Promise<void>((resolve) => {
        // A check of all files may take much longer.
        const timer = setTimeout(resolve, longestEnding);
        const end = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#onIdle = end;
        this.#stream.once("close", end);
      });
    }
    await new Promise<void>((resolve) => {
      // A client that reads nothing does not keep the owner from closing.
      const timer = setTimeout(() => this.#stream.destroy(), 1000);
      this.#stream.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      this.#stream.end(() => this.#stream.destroy());
    });
  }

  /**
   * Counts a tick of a timer, because a process that was itself stopped or busy first reads what
   * has arrived. Shows the client that the owner is there, and ends the connection if the client
   * was silent for too many ticks.
   */
  tick(longestSilence: number): void {
    if (this.#requests > 0 && !this.#stream.writableNeedDrain) this.#report("alive");
    const isHeard = this.#hasHeard || this.#stream.isPaused() || !this.#showsLife;
    this.#hasHeard = false;
    this.#silence = isHeard ? 0 : this.#silence + 1;
    if (this.#silence >= longestSilence) this.#stream.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#hasHeard = true;
    if (this.#isRefused) return;
    try {
      for (const message of this.#reader.push(chunk)) this.#handle(message);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Ends the stream, because the rest of it cannot be understood. */
  #refuse(cause: unknown): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#report("refused", wireError(new EngineFailedError(cause, "request")));
    this.#stream.end();
  }

  #handle(message: unknown): void {
    const [id, call, ...args] = listOf(message);
    const request = numberOf(id);
    this.#requests++;
    this.#pauseIfBusy();
    let answer: unknown;
    try {
      answer = this.#answer(call, args);
    } catch (error) {
      if (error instanceof FrameError) throw error;
      this.#reply(request, error, null);
      return;
    }
    if (!(answer instanceof Promise)) {
      this.#reply(request, undefined, answer);
      return;
    }
    answer.then(
      (result) => this.#reply(request, undefined, result),
      (error) => this.#reply(request, error, null),
    );
  }

  #reply(request: number, error: unknown, result: unknown): void {
    this.#requests--;
    const wire = error === undefined ? null : wireError(error);
    this.#writer.write([request, wire, result, this.#server.changes.counter]);
    if (this.#requests === 0) this.#onIdle?.();
    this.#ranges.next();
    if (this.#stream.isPaused()) this.#resumeIfIdle();
  }

  #report(report: Report, ...args: unknown[]): void {
    this.#writer.write([0, report, ...args]);
  }

  #pauseIfBusy(): void {
    const isBusy = this.#requests >= maxRequests || this.#stream.writableLength > maxUnreadBytes;
    if (isBusy) this.#stream.pause();
  }

  #resumeIfIdle(): void {
    if (this.#isEnding) return;
    if (this.#requests < maxRequests && this.#stream.writableLength <= maxUnreadBytes)
      this.#stream.resume();
  }

  #onDrain(): void {
    this.#ranges.next();
    this.#resumeIfIdle();
    for (const [id, watch] of this.#watches) if (watch.isPending) this.#sendChanges(id, watch);
  }

  /** @throws {FrameError} if the request is not one of the protocol. */
  #answer(call: unknown, args: readonly unknown[]): unknown {
    if (call === "hello") return this.#hello(args);
    if (this.#clientId === undefined) throw malformed();
    const { engine } = this.#server.database;
    switch (call) {
      case "get":
        return this.#get(engine, args);
      case "getMany":
        return this.#getMany(engine, args);
      case "range":
        return this.#range(engine, args);
      case "openView":
        if (engine.openView === undefined) throw malformed();
        return this.#views.open(numberOf(args[0]));
      case "viewGet":
        return this.#get(this.#views.get(numberOf(args[0])), args.slice(1));
      case "viewGetMany":
        return this.#getMany(this.#views.get(numberOf(args[0])), args.slice(1));
      case "viewRange":
        return this.#range(this.#views.get(numberOf(args[0])), args.slice(1));
      case "closeView":
        this.#views.close(numberOf(args[0]));
        return null;
      case "commit":
        return this.#commit(this.#clientId, args);
      case "watch":
      case "watchRanges":
        return this.#watch(call, args);
      case "unwatch":
        return this.#unwatch(numberOf(args[0]));
      case "listen":
        return this.#listen(numberOf(args[0]), args[1] === true);
      case "unlisten":
        return this.#unlisten(numberOf(args[0]));
      case "delivered":
        return this.#delivered(numberOf(args[0]), args[1] === true);
      case "verifyFiles":
        return this.#verifyFiles();
      case "bye":
        this.#isLeaving = true;
        return null;
      default:
        throw malformed();
    }
  }

  #hello([version, clientId, options]: readonly unknown[]): Greeting {
    const id = bytesOf(clientId);
    if (this.#clientId !== undefined || id.length !== clientIdBytes) throw malformed();
    const { database, instance } = this.#server;
    const { engine, mode } = database;
    if (version === protocolVersion) {
      this.#clientId = id.slice();
      this.#showsLife = (options as { showsLife?: unknown } | undefined)?.showsLife === true;
      this.#server.join(this.#clientId, () => this.#stream.destroy());
    }
    return {
      version: protocolVersion,
      instance,
      pid: process.pid,
      mode,
      limits: engine.limits,
      hasViews: engine.openView !== undefined,
      maxMessageBytes: this.#access.maxMessageBytes,
    };
  }

  #get(reads: Pick<ReadView, "get">, [key]: readonly unknown[]): MaybePromise<unknown> {
    const read = reads.get(keyOf(key));
    return read instanceof Promise ? read.then(wireEntry) : wireEntry(read);
  }

  #getMany(reads: Pick<ReadView, "getMany">, [keys]: readonly unknown[]): MaybePromise<unknown> {
    const read = reads.getMany(listOf(keys).map(keyOf));
    const wire = (entries: readonly (StoredEntry | undefined)[]) => entries.map(wireEntry);
    return read instanceof Promise ? read.then(wire) : wire(read);
  }

  #range(
    reads: Pick<ReadView, "getRange">,
    [wireRange, wireLimit, reverse]: readonly unknown[],
  ): Promise<unknown[]> {
    const limit = Math.max(1, Math.floor(numberOf(wireLimit)));
    if (limit > maxEntries) throw new LimitExceededError("batchSize", maxEntries, limit);
    const range = withoutCommitIds(rangeOf(wireRange));
    return this.#ranges.run(async () => {
      const entries = await reads.getRange({ range, limit, reverse: reverse === true });
      return entries.map((entry) => [entry.key, ...wireEntry(entry)!]);
    });
  }

  #commit(clientId: Uint8Array, [group, writes, isRepeated]: readonly unknown[]): unknown {
    const parsed = listOf(writes).map(writeOf);
    if (!this.#access.canWrite) throw new ReadOnlyError("commit");
    return this.#server
      .commit(clientId, numberOf(group), parsed, isRepeated === true)
      .then((outcomes) =>
        outcomes.map((outcome) => (outcome instanceof Error ? wireError(outcome) : outcome)),
      );
  }

  #watch(call: "watch" | "watchRanges", [id, places, since]: readonly unknown[]): null {
    const watchId = numberOf(id);
    if (this.#watches.size >= maxWatches || this.#watches.has(watchId)) throw malformed();
    const { changes } = this.#server;
    const from = numberOf(since);
    let stop: () => void = () => undefined;
    const watch: Watch = { stop: () => stop(), pending: [], isPending: false };
    this.#watches.set(watchId, watch);
    stop =
      call === "watch"
        ? changes.watch(listOf(places).map(keyOf), from, () => this.#changed(watchId, watch, []))
        : changes.watchRanges(listOf(places).map(rangeOf), from, (keys) =>
            this.#changed(watchId, watch, keys),
          );
    return null;
  }

  #changed(id: number, watch: Watch, keys: readonly Uint8Array[] | undefined): void {
    if (keys === undefined) watch.pending = undefined;
    else if (watch.pending !== undefined) watch.pending.push(...keys);
    if ((watch.pending?.length ?? 0) > maxChangedKeys) watch.pending = undefined;
    watch.isPending = true;
    // A slow client gets the changes together when it has read what it has.
    if (!this.#stream.writableNeedDrain) this.#sendChanges(id, watch);
  }

  #sendChanges(id: number, watch: Watch): void {
    const { counter } = this.#server.changes;
    this.#report("changed", id, watch.pending ?? null, counter);
    watch.pending = [];
    watch.isPending = false;
  }

  #unwatch(id: number): null {
    this.#watches.get(id)?.stop();
    this.#watches.delete(id);
    return null;
  }

  #listen(id: number, sync: boolean): null {
    if (this.#listeners.has(id)) throw malformed();
    if (!this.#access.canWrite) {
      this.#report("listenerEnded", id, wireError(new ReadOnlyError("listenQueue")));
      return null;
    }
    const listener = this.#server.database.listen((value) => this.#deliver(id, value), sync);
    this.#listeners.set(id, listener);
    listener.done.then(
      () => this.#report("listenerEnded", id, null),
      (error) => this.#report("listenerEnded", id, wireError(error)),
    );
    return null;
  }

  /** Resolves when the client's handler has taken the message. */
  #deliver(listener: number, value: Uint8Array): Promise<void> {
    if (this.#hasEnded) return Promise.reject(new RemoteHandlerError());
    const delivery = this.#nextDelivery++;
    return new Promise((resolve, reject) => {
      this.#deliveries.set(delivery, (isTaken) => {
        this.#deliveries.delete(delivery);
        if (isTaken) resolve();
        else reject(new RemoteHandlerError());
      });
      this.#report("message", listener, delivery, value);
    });
  }

  #delivered(delivery: number, isTaken: boolean): null {
    this.#deliveries.get(delivery)?.(isTaken);
    return null;
  }

  async #unlisten(id: number): Promise<null> {
    const listener = this.#listeners.get(id);
    listener?.end();
    await listener?.done.catch(() => undefined);
    this.#listeners.delete(id);
    return null;
  }

  async #verifyFiles(): Promise<unknown> {
    const { engine } = this.#server.database;
    return await engine.verifyFiles?.((progress) => this.#report("fileProgress", progress));
  }

  #close(): void {
    this.#hasEnded = true;
    this.#views.closeAll();
    for (const { stop } of this.#watches.values()) stop();
    this.#watches.clear();
    for (const listener of this.#listeners.values()) listener.end();
    for (const settle of [...this.#deliveries.values()]) settle(false);
    if (this.#clientId !== undefined) this.#server.leave(this.#clientId, this.#isLeaving);
  }
}
