import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { EngineFailedError } from "../../../errors/core-errors.js";
import { maxRangeBytes } from "../../engine.js";
import { FrameError, FrameReader, FrameWriter } from "../frames.js";
import { numberOf, type Report } from "../messages.js";
import { wireError } from "../wire-error.js";
import { BufferedBytes } from "./buffered-bytes.js";
import { type ClientChannel, ClientRequests } from "./client-requests.js";
import { ReadTurns, sliceMilliseconds } from "./read-turns.js";
import type { Access, ConnectionHost } from "./served-database.js";

/** A client with more requests than this is not read until some are answered. */
const maxRequests = 1024;
/** A client that has this many bytes to read is not read until it has read them. */
const maxUnreadBytes = 8 * 1024 * 1024;
/** As much as the buffers of a stream. Bytes beyond it count toward the limit of many clients. */
const freeBytes = 64 * 1024;
/** A client may take longer to read than to show that it is there. */
const ticksPerSilence = 4;
/** Milliseconds that a connection that ends waits for its requests. */
const longestEnding = 5000;
/** Milliseconds that an ended stream waits for its client. */
const longestGoodbye = 1000;

/**
 * The stream of one client: reads its requests, writes their answers, and notices if it is gone.
 */
export class ServerConnection {
  readonly #stream: Duplex;
  readonly #server: ConnectionHost;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #buffered: BufferedBytes;
  readonly #requests: ClientRequests;
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
  #unanswered = 0;
  #isEnding = false;
  #isRefused = false;
  #onIdle: (() => void) | undefined;
  #hasEnded = false;

  constructor(stream: Duplex, server: ConnectionHost, access: Access, onEnd: () => void) {
    this.#stream = stream;
    this.#server = server;
    this.#reader = new FrameReader(access.maxMessageBytes, false);
    this.#writer = new FrameWriter(stream);
    this.#buffered = access.buffered ?? new BufferedBytes(Number.POSITIVE_INFINITY);
    this.#requests = new ClientRequests(this.#channel(), server, access);
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
    if (this.#unanswered > 0) {
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
   * Call this at each tick of a timer. It shows the client that the owner is there. It ends the
   * connection if the client was silent for too many ticks, or has read nothing during four times
   * as many. Ticks are counted, not milliseconds: after this process was stopped or busy, it first
   * reads what has arrived.
   */
  tick(longestSilence: number): void {
    // A large request may take long to arrive, and one that has arrived may wait for its turn.
    const isBusy = this.#unanswered > 0 || this.#hasHeard || this.#isHeld;
    const isAwaited = isBusy || this.#requests.isAwaitingTurn;
    if (isAwaited && !this.#stream.writableNeedDrain) this.#report("alive");
    const isHeard = this.#hasHeard || this.#stream.isPaused() || !this.#requests.showsLife;
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
    const isReady = this.#unanswered < maxRequests && this.#stream.writableLength <= maxUnreadBytes;
    const hasRoom = isReady && this.#hasRoom();
    // A large request takes room from its first bytes until it is handled.
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
    // Later bytes of the client are dropped. If the client does not end its side, the timer does.
    this.#stream.resume();
    const timer = setTimeout(() => this.#stream.destroy(), longestGoodbye).unref();
    this.#stream.once("close", () => clearTimeout(timer));
  }

  #handle([id, call, ...args]: readonly unknown[]): void {
    const request = numberOf(id);
    this.#unanswered++;
    let answer: unknown;
    try {
      answer = this.#requests.answer(call, args);
      // Only calls that exist get here.
      this.#server.count(call as string);
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
    this.#unanswered--;
    const wire = error === undefined ? null : wireError(error);
    this.#writer.write([request, wire, result, this.#server.changes.counter]);
    if (this.#unanswered === 0) this.#onIdle?.();
    this.#continue();
  }

  #report(report: Report, ...args: unknown[]): void {
    this.#writer.write([0, report, ...args]);
  }

  #onDrain(): void {
    this.#continue();
    this.#requests.flush();
  }

  #channel(): ClientChannel {
    const connection = this;
    return {
      get bytesReceived() {
        return connection.#bytesReceived;
      },
      get isSlow() {
        return connection.#stream.writableNeedDrain;
      },
      report: (report, ...args) => this.#report(report, ...args),
      // Until a read is answered, the most that it may return counts.
      read: (read) =>
        this.#reads.run(() => {
          this.#count();
          return read();
        }),
      waitFor: (answer) => {
        this.#unanswered--;
        return answer.finally(() => {
          this.#unanswered++;
        });
      },
      destroy: () => this.#stream.destroy(),
    };
  }

  #close(): void {
    this.#hasEnded = true;
    clearImmediate(this.#slice);
    this.#buffered.forget(this.#onRoom);
    this.#buffered.endExceeding(this.#onRoom);
    this.#count();
    this.#requests.close();
  }
}
