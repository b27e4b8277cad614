// What this package and `@keywright/orm` take from a browser. `node.ts` exports the same.
import { sha256 } from "@noble/hashes/sha2.js";
import { Buffer } from "./browser/buffer.js";
import type * as node from "./node.js";

export { Buffer } from "./browser/buffer.js";
export { isDeepStrictEqual } from "./browser/is-deep-strict-equal.js";
export { types } from "./browser/types.js";

export const nativeCrc32: typeof node.nativeCrc32 = null;
export const pid = 0;
export const version = "";

export function hostname(): string {
  return "browser";
}

export function unref<Timer>(timer: Timer): Timer {
  return timer;
}

export function randomFillSync<T extends Uint8Array>(bytes: T, start = 0): T {
  crypto.getRandomValues(bytes.subarray(start));
  return bytes;
}

export function randomBytes(size: number): Buffer {
  return randomFillSync(Buffer.alloc(size));
}

/** Not that of `crypto`, which pages have only if they are from https or localhost. */
export function randomUUID(): string {
  const bytes = randomBytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

interface Hash {
  update(data: string | Uint8Array): Hash;
  digest(): Buffer;
  digest(encoding: "hex" | "base64url"): string;
}

/** Web Crypto has only asynchronous digests, so those of a package are used. */
export function createHash(_algorithm: "sha256"): Hash {
  const state = sha256.create();
  const hash = {
    update: (data: string | Uint8Array) => {
      state.update(typeof data === "string" ? Buffer.from(data) : data);
      return hash;
    },
    digest: (encoding?: "hex" | "base64url") => {
      const digest = Buffer.from(state.digest());
      return encoding === undefined ? digest : digest.toString(encoding);
    },
  } as Hash;
  return hash;
}

interface MessageChannelOfBrowser {
  readonly port1: { onmessage: () => void };
  readonly port2: { postMessage(message: unknown): void };
}

/** Messages of this channel are turns of the event loop. Timers would wait for 4 ms. */
let channel: MessageChannelOfBrowser | undefined;
const turns: (() => void)[] = [];

export function callNextTurn(callback: () => void): void {
  if (channel === undefined) {
    channel = new MessageChannel() as unknown as MessageChannelOfBrowser;
    channel.port1.onmessage = () => turns.shift()?.();
  }
  turns.push(callback);
  channel.port2.postMessage(undefined);
}

export function nextTurn<T>(value?: T): Promise<T> {
  return new Promise((resolve) => callNextTurn(() => resolve(value as T)));
}

/** Rejects with an `AbortError` if the signal is aborted, as `setTimeout` of Node.js does. */
export function sleep<T>(
  milliseconds: number,
  value?: T,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(new DOMException("The operation was aborted", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve(value as T);
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Knows what a function calls before its first `await`, and not what it calls later: no browser
 * can tell that yet.
 */
export class AsyncLocalStorage<T> {
  #store: T | undefined;

  getStore(): T | undefined {
    return this.#store;
  }

  run<R>(store: T, body: () => R): R {
    const outer = this.#store;
    this.#store = store;
    try {
      return body();
    } finally {
      this.#store = outer;
    }
  }
}
