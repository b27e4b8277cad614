import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { forgetAfter } from "../commit-ids.js";
import { FrameReader, FrameWriter } from "../frames.js";
import { type Call, defaultPatience, type Greeting, listOf } from "../messages.js";
import { errorOf, type WireError } from "../wire-error.js";
import { Heartbeat } from "./heartbeat.js";
import {
  type PendingCall,
  PendingCalls,
  ticksOfPatience,
  type Unanswered,
  unanswered,
} from "./pending-calls.js";

/** A stream that can be kept from keeping the process alive, such as a socket. */
export type Connection = Duplex & { unref?(): unknown };

/** Opens a new stream to the owner of a database. */
export type Connect = () => Promise<Connection>;

export interface LinkEvents {
  /**
   * Called when a connection is made, before waiting calls are sent again.
   *
   * @returns an error if the owner cannot be used. All calls then fail with it.
   */
  onConnect(greeting: Greeting): Error | undefined;
  onReport(report: unknown, args: readonly unknown[]): void;
  /** Called if watches and listeners have had no connection for as long as a call waits. */
  onOutage(owner: Unanswered["owner"]): void;
  /** @param cause an error of the owner that has ended all calls. */
  errorOf(call: Unanswered, cause?: Error): Error;
}

interface Hello {
  readonly id: number;
  readonly resolve: (greeting: Greeting) => void;
  readonly reject: (error: unknown) => void;
}

/** The owner accepted a connection and did not answer on it. */
export class SilentOwnerError extends Error {}

/** Milliseconds after a commit was sent in which it may be sent again. */
const longestRepeat = forgetAfter / 2;
const firstDelay = 10;
const longestDelay = 250;

/**
 * The connection of a client to the owner of a database. When it is lost, it is made again, and all
 * calls without an answer are sent again. The last argument of a repeated call is true.
 */
export class Link {
  readonly #connect: Connect;
  readonly #events: LinkEvents;
  readonly #greeting: readonly unknown[];
  readonly #patience: number;
  readonly #timer: NodeJS.Timeout;
  readonly #pending: PendingCalls;
  #nextId = 1;
  #stream: Connection | undefined;
  #writer: FrameWriter | undefined;
  /** A stream on which the owner has not greeted yet, and the request for it. */
  #newStream: Connection | undefined;
  #hello: Hello | undefined;
  #connecting: Promise<void> | undefined;
  #connections = 0;
  #counter = 0;
  readonly #heartbeat = new Heartbeat();
  #ticksWithout = 0;
  #isKept = false;
  #isClosed = false;

  /**
   * @param greeting the arguments of `hello`.
   * @param patience how long a call waits for an owner that does not answer, in milliseconds.
   */
  constructor(
    connect: Connect,
    greeting: readonly unknown[],
    events: LinkEvents,
    patience: number = defaultPatience,
  ) {
    this.#connect = connect;
    this.#greeting = greeting;
    this.#events = events;
    this.#patience = patience;
    this.#timer = setInterval(() => this.#tick(), patience / ticksOfPatience).unref();
    this.#pending = new PendingCalls(this.#timer);
  }

  /** The number of the last change of the database that an answer told. */
  get counter(): number {
    return this.#counter;
  }

  get connections(): number {
    return this.#connections;
  }

  /**
   * Connects for the first time. Rejects with the error of the stream.
   *
   * @throws {SilentOwnerError} if the owner does not answer.
   */
  async open(): Promise<Greeting> {
    try {
      return await this.#attach(await this.#connect(), this.#patience);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  call(call: Call, ...args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const pending = this.#pending.add(id, { call, args, resolve, reject });
      if (this.#isClosed) this.#rejectAll();
      else if (this.#writer !== undefined) this.#send(id, pending);
      else void this.#reconnect();
    });
  }

  /** Sends a call whose answer does not matter. It is not repeated. */
  notify(call: Call, ...args: unknown[]): void {
    this.#write([this.#nextId++, call, ...args]);
  }

  /** Rejects calls without an answer, and does not send them again. */
  giveUp(isMeant: (call: Pick<PendingCall, "call" | "args">) => boolean, error: Error): void {
    this.#pending.rejectAll(() => error, isMeant);
  }

  /** Determines if a lost connection is made again although no call waits. */
  keepConnected(isKept: boolean): void {
    this.#isKept = isKept;
    if (this.#writer === undefined && this.#isNeeded) void this.#reconnect();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.notify("bye");
    this.#newStream?.destroy();
    const stream = this.#stream;
    stream?.end();
    // An owner that is stopped does not end its side.
    if (stream !== undefined) setTimeout(() => stream.destroy(), this.#patience).unref();
    this.#rejectAll();
  }

  #send(id: number, pending: PendingCall): void {
    const { call, args, firstSentAt } = pending;
    pending.firstSentAt ??= Date.now();
    // After a machine has slept, the owner may no longer know what it has committed.
    if (call === "commit" && Date.now() - pending.firstSentAt > longestRepeat) {
      this.#pending.take(id)?.reject(this.#events.errorOf(unanswered(pending, "gone")));
      return;
    }
    try {
      this.#write([id, call, ...args, ...(firstSentAt === undefined ? [] : [true])]);
    } catch (error) {
      this.#pending.take(id);
      pending.reject(
        this.#refusalOf(pending, error as Error, call === "commit" && firstSentAt !== undefined),
      );
    }
  }

  #write(message: readonly unknown[]): void {
    this.#heartbeat.send();
    this.#writer?.write(message);
  }

  /** @param longest how long the owner may take to greet, in milliseconds. */
  async #attach(stream: Connection, longest: number): Promise<Greeting> {
    stream.unref?.();
    this.#newStream = stream;
    try {
      if (this.#isClosed) throw new Error("the database is closed");
      if (stream.destroyed) throw new Error("the connection was closed");
      const writer = new FrameWriter(stream);
      const greeting = await this.#greet(stream, writer, longest);
      if (this.#isClosed) throw new Error("the database is closed");
      writer.maxBytes = greeting.maxMessageBytes;
      this.#stream = stream;
      this.#writer = writer;
      this.#connections++;
      this.#heartbeat.begin();
      const refusal = this.#events.onConnect(greeting);
      if (refusal === undefined) return greeting;
      this.#stream = undefined;
      this.#writer = undefined;
      this.#refuseAll(() => refusal);
      throw refusal;
    } catch (error) {
      stream.destroy();
      throw error;
    } finally {
      this.#newStream = undefined;
    }
  }

  async #greet(stream: Connection, writer: FrameWriter, longest: number): Promise<Greeting> {
    const reader = new FrameReader(Number.POSITIVE_INFINITY, true);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Greeting>((resolve, reject) => {
        const id = this.#nextId++;
        this.#hello = { id, resolve, reject };
        const lose = (error = new Error("the connection was closed")) => {
          reject(error);
          if (this.#stream === stream) this.#lose();
        };
        stream.on("error", lose);
        stream.on("close", () => lose());
        stream.on("data", (chunk: Buffer) => {
          this.#heartbeat.hear();
          try {
            for (const message of reader.push(chunk)) this.#receive(message);
          } catch {
            stream.destroy();
          }
        });
        // What has arrived while this process was stopped or busy is read first.
        timer = setTimeout(() => setImmediate(reject, new SilentOwnerError()), longest);
        if (this.#connections > 0) timer.unref();
        writer.write([id, "hello", ...this.#greeting]);
      });
    } finally {
      clearTimeout(timer);
      this.#hello = undefined;
    }
  }

  #receive(message: unknown): void {
    const [id, ...rest] = listOf(message);
    if (id === 0) {
      const [report, ...args] = rest;
      if (report === "refused") this.#onRefused(args[0] as WireError);
      else this.#events.onReport(report, args);
      return;
    }
    const [error, result, counter] = rest;
    if (typeof counter === "number") this.#counter = counter;
    const waiting = this.#hello?.id === id ? this.#hello : this.#pending.take(id as number);
    if (error === null) waiting?.resolve(result as Greeting);
    else waiting?.reject(errorOf(error as WireError));
  }

  /** The owner does not understand a message. To send it again would not help. */
  #onRefused(error: WireError): void {
    this.#hello?.reject(errorOf(error));
    this.#refuseAll(() => errorOf(error));
  }

  /** A commit that was sent may have been applied. */
  #refuseAll(refusal: () => Error): void {
    this.#pending.rejectAll((pending) => {
      const mayBeMade = pending.call === "commit" && pending.firstSentAt !== undefined;
      return this.#refusalOf(pending, refusal(), mayBeMade);
    });
  }

  #refusalOf(pending: PendingCall, refusal: Error, mayBeMade: boolean): Error {
    return mayBeMade ? this.#events.errorOf(unanswered(pending, "gone"), refusal) : refusal;
  }

  #lose(): void {
    this.#stream = undefined;
    this.#writer = undefined;
    if (this.#isNeeded) void this.#reconnect();
  }

  get #isNeeded(): boolean {
    return !this.#isClosed && (!this.#pending.isEmpty || this.#isKept);
  }

  #reconnect(): Promise<void> {
    this.#connecting ??= this.#tryToConnect().finally(() => {
      this.#connecting = undefined;
      // A call may have come, or the new connection may be lost again.
      if (this.#writer === undefined && this.#isNeeded) void this.#reconnect();
    });
    return this.#connecting;
  }

  /** Tries for as long as it is needed. Never rejects. */
  async #tryToConnect(): Promise<void> {
    let delay = firstDelay;
    while (this.#isNeeded) {
      try {
        await this.#attach(await this.#connect(), 3 * this.#patience);
        for (const [id, pending] of this.#pending.entries()) this.#send(id, pending);
        return;
      } catch {}
      await sleep(delay * (0.5 + Math.random()), undefined, { ref: false });
      delay = Math.min(delay * 2, longestDelay);
    }
  }

  #tick(): void {
    const isThere = this.#stream !== undefined || this.#newStream !== undefined;
    const { hasHeard, next } = this.#heartbeat.tick(!this.#pending.isEmpty);
    this.#pending.tick(hasHeard, (pending, owner) => {
      pending.reject(this.#events.errorOf(unanswered(pending, isThere ? owner : "gone")));
    });
    this.#ticksWithout = this.#isKept && this.#stream === undefined ? this.#ticksWithout + 1 : 0;
    if (this.#ticksWithout === ticksOfPatience) this.#events.onOutage(isThere ? "silent" : "gone");
    if (next === "lose" && this.#stream !== undefined) {
      this.#stream.destroy();
      this.#lose();
    }
    // Owners of every version answer this, and do nothing.
    if (next === "ask") this.notify("unwatch", 0);
  }

  #rejectAll(): void {
    this.#pending.rejectAll((pending) => this.#events.errorOf(unanswered(pending, "gone")));
  }
}
