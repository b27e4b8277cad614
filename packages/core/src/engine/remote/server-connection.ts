import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { EngineFailedError, LimitExceededError, ReadOnlyError } from "../../errors/core-errors.js";
import {
  type Engine,
  type EngineLimits,
  type MaybePromise,
  maxRangeBytes,
  type QueueListener,
  type ReadView,
  type StoredEntry,
  type WriteOutcome,
} from "../engine.js";
import { postponed } from "../turns.js";
import { BufferedBytes } from "./buffered-bytes.js";
import { clientIdBytes, withoutCommitIds } from "./commit-ids.js";
import { FrameError, FrameReader, FrameWriter } from "./frames.js";
import {
  bytesOf,
  type Greeting,
  keyOf,
  listOf,
  malformed,
  maxKeys,
  numberOf,
  protocolVersion,
  type Report,
  rangeOf,
  turnOf,
  type WireFileProgress,
  wireEntry,
  writeOf,
} from "./messages.js";
import { readMany } from "./read-many.js";
import { ReadTurns, sliceMilliseconds } from "./read-turns.js";
import { RemoteHandlerError } from "./remote-handler-error.js";
import type { Access, ConnectionHost } from "./served-database.js";
import { ServedTurns, type TurnAnswer } from "./served-turns.js";
import { ServedViews } from "./served-views.js";
import { ServedWatches } from "./served-watches.js";
import { type WireError, wireError } from "./wire-error.js";

/** A client with more requests than this is not read until some are answered. */
const maxRequests = 1024;
/** A client that has this many bytes to read is not read until it has read them. */
const maxUnreadBytes = 8 * 1024 * 1024;
/** As much as the buffers of a stream. Bytes beyond it count toward the limit of many clients. */
const freeBytes = 64 * 1024;
/** Fewer keys are read at once, more in parts, until their values have as many bytes as a range. */
const fewKeys = 16;
const maxEntries = 10_000;
/** A client may take longer to read than to show that it is there. */
const ticksPerSilence = 4;
/** Milliseconds that a connection that ends waits for its requests. */
const longestEnding = 5000;
/** Milliseconds that an ended stream waits for its client. */
const longestGoodbye = 1000;
/** The requests of one client, which `messages.ts` describes. */
export class ServerConnection {
  readonly #stream: Duplex;
  readonly #server: ConnectionHost;
  readonly #access: Access;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #buffered: BufferedBytes;
  readonly #watches: ServedWatches;
  readonly #views: ServedViews;
  /** Undefined if another process has the line for turns. */
  readonly #turns: ServedTurns | undefined;
  readonly #listeners = new Map<number, QueueListener>();
  /** The messages that handlers of the client have, by their number. */
  readonly #deliveries = new Map<number, (isTaken: boolean) => void>();
  /** True if a client that sends nothing is gone. Those of older versions are silent for long. */
  #showsLife = true;
  #hasHeard = false;
  #bytesReceived = 0;
  #silence = 0;
  /** The bytes that the client has read, and the ticks since then with answers for it. */
  #bytesRead = 0;
  #unreadTicks = 0;
  readonly #reads = new ReadTurns(() => this.#hasRoom());
  /** Handles messages that wait for room. */
  readonly #onRoom = () => this.#continue();
  /** The bytes that count toward the limit of many clients. */
  #counted = 0;
  /** The next slice of time of messages that have arrived. */
  #slice: NodeJS.Immediate | undefined;
  /** True if messages wait for room or for answers. */
  #isHeld = false;
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
    this.#buffered = access.buffered ?? new BufferedBytes(Number.POSITIVE_INFINITY);
    this.#watches = new ServedWatches(
      server.changes,
      access.watched ?? new BufferedBytes(Number.POSITIVE_INFINITY),
      {
        isSlow: () => stream.writableNeedDrain,
        send: (id, keys) => this.#report("changed", id, keys, server.changes.counter),
      },
    );
    const { engine, turns } = server.database;
    this.#views = new ServedViews(engine);
    this.#turns = turns && new ServedTurns(turns, engine, () => this.#bytesReceived);
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
    if (this.#stream.closed) return;
    await new Promise<void>((resolve) => {
      // A client that reads nothing does not keep the owner from closing.
      const timer = setTimeout(() => this.#stream.destroy(), longestGoodbye);
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
   * was silent for too many ticks, or has read nothing in four times as many.
   */
  tick(longestSilence: number): void {
    // A large request may take long to arrive, and one that has arrived may wait for its turn.
    const isBusy = this.#requests > 0 || this.#hasHeard || this.#isHeld;
    const isAwaited = isBusy || this.#turns?.isAwaited === true;
    if (isAwaited && !this.#stream.writableNeedDrain) this.#report("alive");
    const isHeard = this.#hasHeard || this.#stream.isPaused() || !this.#showsLife;
    this.#hasHeard = false;
    this.#silence = isHeard ? 0 : this.#silence + 1;
    const read = this.#writer.bytes - this.#stream.writableLength;
    this.#unreadTicks =
      this.#stream.writableNeedDrain && read === this.#bytesRead ? this.#unreadTicks + 1 : 0;
    this.#bytesRead = read;
    const isStuck = this.#unreadTicks >= longestSilence * ticksPerSilence;
    if (this.#silence >= longestSilence || isStuck) this.#stream.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#hasHeard = true;
    this.#bytesReceived += chunk.length;
    if (this.#isRefused) return;
    this.#reader.add(chunk);
    if (this.#slice === undefined) this.#handleMessages();
  }

  /**
   * Handles the messages that have arrived, in slices of time, while the client reads its answers.
   * Reads no more from the stream until all are handled.
   */
  #handleMessages(): void {
    this.#slice = undefined;
    if (this.#isRefused || this.#isEnding || this.#hasEnded) return;
    const end = performance.now() + sliceMilliseconds;
    this.#isHeld = false;
    try {
      while (this.#mayHandle()) {
        const message = this.#reader.next();
        if (message === undefined) {
          this.#count();
          if (this.#stream.isPaused()) this.#stream.resume();
          return;
        }
        this.#handle(message as readonly unknown[]);
        if (performance.now() < end) continue;
        this.#stream.pause();
        this.#slice = setImmediate(() => this.#handleMessages());
        return;
      }
      this.#isHeld = true;
      this.#stream.pause();
    } catch (error) {
      this.#refuse(error);
    }
  }

  #mayHandle(): boolean {
    const isReady = this.#requests < maxRequests && this.#stream.writableLength <= maxUnreadBytes;
    const hasRoom = isReady && this.#hasRoom();
    // The part of a large request that has arrived takes room until the request is handled.
    const isLarge = this.#reader.length > freeBytes;
    if (isReady && !hasRoom && isLarge && this.#buffered.mayExceed(this.#onRoom)) return true;
    this.#buffered.endExceeding(this.#onRoom);
    return hasRoom;
  }

  /** True if the client has read most of its answers, and so have those that share its limit. */
  #hasRoom(): boolean {
    if (this.#stream.writableLength > maxUnreadBytes) return false;
    if (this.#buffered.hasRoom) return true;
    this.#buffered.whenRoom(this.#onRoom);
    return false;
  }

  /** Continues with what waits, after an answer was written or read. */
  #continue(): void {
    this.#count();
    this.#reads.next();
    if (this.#isHeld) this.#handleMessages();
  }

  /** Counts what the client has sent and not read, and what its reads may return. */
  #count(): void {
    const { length } = this.#reader;
    const bytes = this.#hasEnded
      ? 0
      : Math.max(0, this.#stream.writableLength - freeBytes) +
        Math.max(0, length - freeBytes) +
        this.#reads.running * maxRangeBytes;
    const change = bytes - this.#counted;
    if (change === 0) return;
    this.#counted = bytes;
    this.#buffered.change(change);
  }

  /** Ends the stream, because the rest of it cannot be understood. */
  #refuse(cause: unknown): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#report("refused", wireError(new EngineFailedError(cause, "request")));
    this.#stream.end();
    // What the client still sends is not kept, and a client that does not end is not waited for.
    this.#stream.resume();
    const timer = setTimeout(() => this.#stream.destroy(), longestGoodbye).unref();
    this.#stream.once("close", () => clearTimeout(timer));
  }

  #handle([id, call, ...args]: readonly unknown[]): void {
    const request = numberOf(id);
    this.#requests++;
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
    this.#continue();
  }

  #report(report: Report, ...args: unknown[]): void {
    this.#writer.write([0, report, ...args]);
  }

  #onDrain(): void {
    this.#continue();
    this.#watches.flush();
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
        return this.#getMany(args[0]);
      case "range":
        return this.#range(engine, args);
      case "openView":
        if (engine.openView === undefined) throw malformed();
        return this.#views.open(numberOf(args[0]));
      case "viewGet":
        return this.#views.use(numberOf(args[0]), (view) => this.#get(view, args.slice(1)));
      case "viewGetMany":
        return this.#views.use(numberOf(args[0]), (view) => this.#getMany(args[1], view));
      case "viewRange":
        return this.#views.use(numberOf(args[0]), (view) => this.#range(view, args.slice(1)));
      case "closeView":
        this.#views.close(numberOf(args[0]));
        return null;
      case "commit":
        return this.#commit(this.#clientId, args);
      case "watch":
      case "watchRanges":
        this.#watches.add(call, numberOf(args[0]), args[1], numberOf(args[2]));
        return null;
      case "unwatch":
        this.#watches.remove(numberOf(args[0]));
        return null;
      case "listen":
        return this.#listen(numberOf(args[0]), args[1] === true);
      case "unlisten":
        return this.#unlisten(numberOf(args[0]));
      case "delivered":
        return this.#delivered(numberOf(args[0]), args[1] === true);
      case "verifyFiles":
        return this.#verifyFiles();
      case "takeTurn":
        return this.#takeTurn(args);
      case "endTurn":
        this.#turns?.end(numberOf(args[0]));
        return null;
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
      limits: servedLimits(engine),
      hasViews: engine.openView !== undefined,
      opensViewsAtOnce: true,
      checksRanges: engine.checksRanges === true,
      queuesTurns: this.#turns !== undefined && this.#access.canWrite,
      maxMessageBytes: this.#access.maxMessageBytes,
    };
  }

  #get(reads: Pick<ReadView, "get">, [key]: readonly unknown[]): MaybePromise<unknown> {
    const read = reads.get(keyOf(key));
    return read instanceof Promise ? read.then(wireEntry) : wireEntry(read);
  }

  /** @param view the view of the client, or else one that is opened for more than a few keys. */
  #getMany(list: unknown, view?: ReadView): MaybePromise<unknown> {
    const keys = listOf(list).map(keyOf);
    if (keys.length > maxKeys) throw new LimitExceededError("keys", maxKeys, keys.length);
    const wire = (entries: readonly (StoredEntry | undefined)[]) => entries.map(wireEntry);
    const { engine } = this.#server.database;
    if (keys.length <= fewKeys) {
      const read = (view ?? engine).getMany(keys);
      return read instanceof Promise ? read.then(wire) : wire(read);
    }
    return this.#read(async () => {
      if (view !== undefined) return wire(await readMany(view, keys));
      if (engine.openView === undefined) return wire(await engine.getMany(keys));
      const own = await engine.openView();
      try {
        return wire(await readMany(own, keys));
      } finally {
        own.close();
      }
    });
  }

  #range(
    reads: Pick<ReadView, "getRange">,
    [wireRange, wireLimit, reverse]: readonly unknown[],
  ): Promise<unknown[]> {
    const limit = Math.max(1, Math.floor(numberOf(wireLimit)));
    if (limit > maxEntries) throw new LimitExceededError("batchSize", maxEntries, limit);
    const range = withoutCommitIds(rangeOf(wireRange));
    return this.#read(async () => {
      const entries = await reads.getRange({ range, limit, reverse: reverse === true });
      return entries.map((entry) => [entry.key, ...wireEntry(entry)!]);
    });
  }

  /** Runs a read in its turn. Until it is answered, the most that it may return counts. */
  #read<T>(read: () => Promise<T>): Promise<T> {
    return this.#reads.run(() => {
      this.#count();
      return read();
    });
  }

  #commit(clientId: Uint8Array, [group, wire, isRepeated]: readonly unknown[]): unknown {
    const list = listOf(wire);
    const request = {
      group: numberOf(group),
      writes: list.map(writeOf),
      turns: list.map(turnOf),
      isRepeated: isRepeated === true,
    };
    if (!this.#access.canWrite) throw new ReadOnlyError("commit");
    return this.#server.commit(clientId, request).then((outcomes) => {
      for (const [i, turn] of request.turns.entries())
        if (turn !== undefined && typeof outcomes[i] === "string") this.#turns?.end(turn);
      return outcomes.map(wireOutcome);
    });
  }

  /** Takes a turn. A client that waits for it can send any number of other requests. */
  #takeTurn([number, reads, writes]: readonly unknown[]): Promise<TurnAnswer> {
    if (this.#turns === undefined || !this.#access.canWrite) throw malformed();
    const taken = this.#turns.take(numberOf(number), reads, writes);
    this.#requests--;
    return taken.finally(() => {
      this.#requests++;
    });
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
    return await engine.verifyFiles?.(({ done, total = done }) => {
      const progress: WireFileProgress = {
        files: 0,
        filesTotal: 0,
        bytes: done,
        bytesTotal: total,
      };
      this.#report("fileProgress", progress);
    });
  }

  #close(): void {
    this.#hasEnded = true;
    this.#views.closeAll();
    this.#turns?.endAll();
    clearImmediate(this.#slice);
    this.#watches.removeAll();
    this.#buffered.forget(this.#onRoom);
    this.#buffered.endExceeding(this.#onRoom);
    this.#count();
    for (const listener of this.#listeners.values()) listener.end();
    for (const settle of [...this.#deliveries.values()]) settle(false);
    if (this.#clientId !== undefined) this.#server.leave(this.#clientId, this.#isLeaving);
  }
}

/** A postponed write has the outcome false. Only writes that may be postponed have it. */
function wireOutcome(outcome: WriteOutcome): string | null | false | WireError {
  if (outcome === postponed) return false;
  return outcome instanceof Error ? wireError(outcome) : outcome;
}

/** Without views, a client cannot divide a read of many keys. */
function servedLimits({ limits, openView }: Engine): EngineLimits {
  if (openView !== undefined) return limits;
  return { ...limits, keys: Math.min(limits.keys ?? maxKeys, maxKeys) };
}
