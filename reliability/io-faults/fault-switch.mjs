import { closeSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { constants } from "node:os";

/** The kinds of calls that can fail, in the order of fail-calls.c. */
export const kinds = [
  "open",
  "read",
  "write",
  "sync",
  "rename",
  "unlink",
  "truncate",
  "mmap",
  "mkdir",
];
const extents = ["once", "kind", "all"];
const counts = 8;
const failed = 7;

/** Writes the file of a switch. A process that is started later finds no fault in it. */
export function createSwitch(path) {
  writeFileSync(path, bytesOf());
}

/** Tells fail-calls.c, which is loaded in this process, which calls have to fail. */
export class FaultSwitch {
  #file;

  constructor(path) {
    this.#file = openSync(path, "r+");
  }

  /**
   * Lets calls fail from now on, and counts all calls from 0. A fault is one of
   * - `{ kind, nth, error, extent }`: the nth call of a kind, and with the extent `"kind"` also those
   *   after it, with `"all"` all calls after it;
   * - `{ space }`: the disk is full after this number of bytes;
   * - `{ fileSize }`: the system allows files of this number of bytes;
   * - `{ descriptors }`: the process can open this number of files, beside those that are open.
   */
  set(fault) {
    const bytes = bytesOf(fault);
    writeSync(this.#file, bytes, 0, bytes.length, 0);
  }

  /** Lets no more calls fail. Returns how many have failed, and how many of each kind were made. */
  unset() {
    const bytes = new BigInt64Array(counts + kinds.length);
    readSync(this.#file, bytes, 0, bytes.byteLength, 0);
    this.set(undefined);
    const made = kinds.map((kind, i) => [kind, Number(bytes[counts + i])]);
    return { failed: Number(bytes[failed]), made: Object.fromEntries(made) };
  }
}

function bytesOf({ kind, nth = 0, error, extent, space = -1, fileSize = -1, descriptors } = {}) {
  const code = error === undefined ? 0 : constants.errno[error];
  const limit = descriptors === undefined ? -1 : nextDescriptor() + descriptors;
  const numbers = [kinds.indexOf(kind), nth, code, extents.indexOf(extent), space, fileSize, limit];
  const cells = new BigInt64Array(counts + kinds.length);
  cells.set(numbers.map(BigInt));
  return new Uint8Array(cells.buffer);
}

function nextDescriptor() {
  const descriptor = openSync("/dev/null", "r");
  closeSync(descriptor);
  return descriptor;
}
