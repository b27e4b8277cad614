import { Buffer } from "node:buffer";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Bytes of items that are in memory at the same time. */
const mostBytes = 64 * 1024 * 1024;
/** The estimated bytes of an item in memory without its texts and payload. */
const itemBytes = 400;
const readBytes = 256 * 1024;
const headBytes = 12;

/** Bytes with the texts by which they are sorted. The texts have one byte for each character. */
export interface SortedItem {
  readonly first: string;
  /** Decides between items with the same `first`. */
  readonly second: string;
  readonly payload: Uint8Array;
}

/**
 * Sorts any number of items with little memory. What does not fit is written to a temporary folder
 * in sorted runs, which are then merged.
 */
export class SortedItems {
  readonly #mostBytes: number;
  #items: SortedItem[] = [];
  #bytes = 0;
  #folder: string | undefined;
  readonly #runs: string[] = [];

  /** @param most bytes of items in memory, smaller in tests. */
  constructor(most: number = mostBytes) {
    this.#mostBytes = most;
  }

  /** Adds an item. Its payload must not change afterwards. */
  add(item: SortedItem): void {
    this.#items.push(item);
    this.#bytes += itemBytes + item.first.length + item.second.length + item.payload.length;
    if (this.#bytes >= this.#mostBytes) this.#writeRun();
  }

  /** Yields all items in their order. It can be called once. */
  *sorted(): Generator<SortedItem> {
    try {
      this.#items.sort(compareItems);
      if (this.#runs.length === 0) {
        yield* this.#items;
        return;
      }
      if (this.#items.length > 0) this.#writeRun();
      const runs = this.#runs.map((path) => new RunReader(path));
      try {
        yield* merged(runs);
      } finally {
        for (const run of runs) run.close();
      }
    } finally {
      this.remove();
    }
  }

  /** Removes the temporary folder. */
  remove(): void {
    this.#items = [];
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  #writeRun(): void {
    this.#folder ??= mkdtempSync(join(tmpdir(), "keywright-restore-"));
    const path = join(this.#folder, String(this.#runs.length));
    this.#items.sort(compareItems);
    const file = openSync(path, "wx", 0o600);
    try {
      let parts: Uint8Array[] = [];
      let bytes = 0;
      const write = () => {
        writeAll(file, Buffer.concat(parts, bytes));
        parts = [];
        bytes = 0;
      };
      for (const item of this.#items) {
        for (const part of encodeItem(item)) {
          parts.push(part);
          bytes += part.length;
        }
        if (bytes >= readBytes) write();
      }
      write();
    } finally {
      closeSync(file);
    }
    this.#runs.push(path);
    this.#items = [];
    this.#bytes = 0;
  }
}

function compareItems(a: SortedItem, b: SortedItem): number {
  if (a.first !== b.first) return a.first < b.first ? -1 : 1;
  return a.second < b.second ? -1 : a.second > b.second ? 1 : 0;
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(file, bytes, offset);
}

function encodeItem({ first, second, payload }: SortedItem): Uint8Array[] {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(first.length, 0);
  head.writeUInt32BE(second.length, 4);
  head.writeUInt32BE(payload.length, 8);
  return [head, Buffer.from(first, "latin1"), Buffer.from(second, "latin1"), payload];
}

function* merged(runs: readonly RunReader[]): Generator<SortedItem> {
  for (;;) {
    let next: RunReader | undefined;
    for (const run of runs) {
      if (run.item === undefined) continue;
      if (next === undefined || compareItems(run.item, next.item!) < 0) next = run;
    }
    if (next === undefined) return;
    yield next.item!;
    next.advance();
  }
}

/** Reads the items of a run one after another. */
class RunReader {
  /** The next item. Undefined at the end. */
  item: SortedItem | undefined;
  readonly #file: number;
  #bytes = Buffer.alloc(0);
  #offset = 0;

  constructor(path: string) {
    this.#file = openSync(path, "r");
    this.advance();
  }

  advance(): void {
    const head = this.#read(headBytes);
    if (head === undefined) {
      this.item = undefined;
      return;
    }
    const [first, second, payload] = [0, 4, 8].map((offset) => head.readUInt32BE(offset));
    const item = this.#read(first! + second! + payload!)!;
    this.item = {
      first: item.toString("latin1", 0, first),
      second: item.toString("latin1", first, first! + second!),
      payload: item.subarray(first! + second!),
    };
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(length: number): Buffer | undefined {
    const rest = this.#bytes.subarray(this.#offset);
    if (rest.length < length) {
      const more = Buffer.allocUnsafe(Math.max(length - rest.length, readBytes));
      let read = 0;
      while (rest.length + read < length) {
        const bytes = readSync(this.#file, more, read, more.length - read, null);
        if (bytes === 0) return undefined;
        read += bytes;
      }
      this.#bytes = Buffer.concat([rest, more.subarray(0, read)]);
      this.#offset = 0;
    }
    const start = this.#offset;
    this.#offset += length;
    return this.#bytes.subarray(start, this.#offset);
  }
}
