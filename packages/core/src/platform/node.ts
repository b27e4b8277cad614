// What this package and `@keywright/orm` take from the runtime. This file is for Node.js and for
// runtimes with its modules: Deno, Bun and workerd. `browser.ts` exports the same for browsers. The
// conditions in package.json choose between the two.
// Not a named import, because that would be a syntax error if `crc32` does not exist.
import zlib from "node:zlib";

export { AsyncLocalStorage } from "node:async_hooks";
export { Buffer } from "node:buffer";
export { createHash, randomBytes, randomFillSync, randomUUID } from "node:crypto";
export { hostname } from "node:os";
export { pid, version } from "node:process";
export { setImmediate as callNextTurn } from "node:timers";
export { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
export { isDeepStrictEqual, types } from "node:util";

/** Undefined if the runtime is too old, and null if there is none because it is a browser. */
export const nativeCrc32: ((bytes: Uint8Array, previous: number) => number) | null | undefined =
  zlib.crc32 as typeof zlib.crc32 | undefined;

/** Lets the process end while the timer runs. Returns the timer. */
export function unref(timer: NodeJS.Timeout): NodeJS.Timeout {
  return timer.unref();
}
