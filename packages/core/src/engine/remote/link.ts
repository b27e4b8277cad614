import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { FrameReader, FrameWriter } from "./frames.js";
import { type Call, type Greeting, listOf } from "./messages.js";
import { errorOf, type WireError } from "./wire-error.js";

/** A stream that can be kept from keeping the process alive, such as a socket. */
export type Connection = Duplex & { ref?(): unknown; unref?(): unknown };

/** Opens a new stream to the owner of a database. */
export type Connect = () => Promise<Connection>;

export interface LinkEvents {
  /** Called when a connection is made, before waiting calls are sent again. */
  onConnect(greeting: Greeting): void;
  onReport(report: unknown, args: readonly unknown[]): void;
  /**
   * Called when no connection was made for a while.
   *
   * @param wasSent true if the owner may have received the call.
   */
  errorOf(call: Call, wasSent: boolean): Error;
}

interface Pending {
  readonly call: Call;
  readonly args: readonly unknown[];
  /** How often the request was sent. */
  sent: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How long calls wait for a connection, in milliseconds. */
export const patience = 5000;
const firstDelay = 10;
const longestDelay = 250;

/**
 * The connection of a client to the owner of a database. When it is lost, it is made again, and all
 * calls without an answer are sent again. The last argument of a repeated call is true.
 */
export class Link {
  readonly #connect: Connect;
  readonly #events: LinkEvents;
  readonly #greet: readonly unknown[];
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #stream: Connection | undefined;
  #writer: FrameWriter | undefined;
  #connecting: Promise<void> | undefined;
  #counter = 0;
  #isClosed = false;

  /** @param greet the arguments of `hello`. */
  constructor(connect: Connect, greet: readonly unknown[], events: LinkEvents) {
    this.#connect = connect;
    this.#greet = greet;
    this.#events = events;
  }

  /** The number of the last change of the database that an answer told. */
  get counter(): number {
    return this.#counter;
  }

  /** Connects for the first time. Rejects with the error of the stream. */
  async open(): Promise<Greeting> {
    return await this.#attach(await this.#connect());
  }

  call(call: Call, ...args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(this.#events.errorOf(call, false));
        return;
      }
      const id = this.#nextId++;
      const pending: Pending = { call, args, sent: 0, resolve, reject };
      this.#pending.set(id, pending);
      if (this.#writer !== undefined) this.#send(id, pending);
      else void this.#reconnect();
    });
  }

  /** Sends a call whose answer does not matter. It is not repeated. */
  notify(call: Call, ...args: unknown[]): void {
    this.#writer?.write([this.#nextId++, call, ...args]);
  }

  /** Makes the connection again when it is lost, also if no call waits. */
  keepConnected = false;

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.notify("bye");
    this.#stream?.end();
    this.#rejectAll();
  }

  #send(id: number, pending: Pending): void {
    const { call, args } = pending;
    pending.sent++;
    try {
      this.#writer?.write([id, call, ...args, ...(pending.sent > 1 ? [true] : [])]);
      this.#stream?.ref?.();
    } catch (error) {
      this.#pending.delete(id);
      pending.reject(error);
    }
  }

  async #attach(stream: Connection): Promise<Greeting> {
    const reader = new FrameReader(Number.POSITIVE_INFINITY, true);
    const writer = new FrameWriter(stream);
    const greeting = await new Promise<Greeting>((resolve, reject) => {
      const id = this.#nextId++;
      this.#pending.set(id, {
        ...{ call: "hello", args: [], sent: 1, reject },
        resolve: (result) => resolve(result as Greeting),
      });
      const lose = (error = new Error("the connection was closed")) => {
        this.#pending.delete(id);
        reject(error);
        if (this.#stream === stream) this.#lose();
      };
      stream.on("error", lose);
      stream.on("close", () => lose());
      stream.on("data", (chunk: Buffer) => {
        try {
          for (const message of reader.push(chunk)) this.#receive(message);
        } catch {
          stream.destroy();
        }
      });
      writer.write([id, "hello", ...this.#greet]);
    });
    this.#stream = stream;
    this.#writer = writer;
    writer.maxBytes = greeting.maxMessageBytes;
    stream.unref?.();
    this.#events.onConnect(greeting);
    return greeting;
  }

  #receive(message: unknown): void {
    const [id, ...rest] = listOf(message);
    if (id === 0) {
      const [report, ...args] = rest;
      // The owner has not understood a message, and would not if it were sent again.
      if (report === "refused") this.#rejectAll(() => errorOf(args[0] as WireError));
      else this.#events.onReport(report, args);
      return;
    }
    const [error, result, counter] = rest;
    if (typeof counter === "number") this.#counter = counter;
    const pending = this.#pending.get(id as number);
    if (pending === undefined) return;
    this.#pending.delete(id as number);
    if (this.#pending.size === 0) this.#stream?.unref?.();
    if (error === null) pending.resolve(result);
    else pending.reject(errorOf(error as WireError));
  }

  #lose(): void {
    this.#stream = undefined;
    this.#writer = undefined;
    if (this.#isClosed) return;
    if (this.#pending.size > 0 || this.keepConnected) void this.#reconnect();
  }

  #reconnect(): Promise<void> {
    this.#connecting ??= this.#tryToConnect().finally(() => {
      this.#connecting = undefined;
      // A call may have come, or the new connection may be lost again.
      const isNeeded = this.#pending.size > 0 || this.keepConnected;
      if (this.#writer === undefined && isNeeded && !this.#isClosed) void this.#reconnect();
    });
    return this.#connecting;
  }

  /** Never rejects. Calls that wait for too long do. */
  async #tryToConnect(): Promise<void> {
    let delay = firstDelay;
    let giveUpAt = performance.now() + patience;
    while (!this.#isClosed) {
      try {
        await this.#attach(await this.#connect());
        for (const [id, pending] of [...this.#pending]) this.#send(id, pending);
        return;
      } catch {}
      if (performance.now() >= giveUpAt) {
        this.#rejectAll();
        if (!this.keepConnected) return;
        giveUpAt = performance.now() + patience;
      }
      await sleep(delay * (0.5 + Math.random()), undefined, { ref: this.#pending.size > 0 });
      delay = Math.min(delay * 2, longestDelay);
    }
  }

  #rejectAll(error = ({ call, sent }: Pending) => this.#events.errorOf(call, sent > 0)): void {
    for (const pending of this.#pending.values()) pending.reject(error(pending));
    this.#pending.clear();
  }
}
