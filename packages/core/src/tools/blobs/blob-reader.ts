import { BlobDamagedError } from "../../errors/tool-errors.js";
import type { KvKey } from "../../keys/key.js";
import type { Kv, KvEntryMaybe } from "../../kv/kv.js";
import type { BlobHead, BlobKeys } from "./blob-keys.js";
import { decodeChunk } from "./chunks.js";

/** As many keys as Deno KV reads at once. */
const chunksAtOnce = 10;

/** A part of a blob, in bytes from its beginning. */
export interface BlobRange {
  /** The first byte. The default is 0. */
  readonly start?: number;
  /** The byte after the last one. The default is the size of the blob. */
  readonly end?: number;
}

/** The reads of one state, or of the database if it has no views. */
interface BlobReads {
  readonly kv: Pick<Kv, "get" | "getMany">;
  close(): void;
}

/** Reads blobs. Each read has one state of the blob, if the database has views. */
export class BlobReader {
  readonly #kv: Kv;
  readonly #keys: BlobKeys;

  constructor(kv: Kv, keys: BlobKeys) {
    this.#kv = kv;
    this.#keys = keys;
  }

  async head(key: KvKey): Promise<BlobHead | undefined> {
    return (await this.#kv.get<BlobHead>(this.#keys.head(key))).value ?? undefined;
  }

  /**
   * Returns the pieces of a range, or undefined if there is no blob. They keep a view open until
   * they are read.
   */
  async pieces(key: KvKey, range: BlobRange): Promise<BlobPieces | undefined> {
    const reads = await this.#open();
    try {
      const { value } = await reads.kv.get<BlobHead>(this.#keys.head(key));
      if (value !== null) {
        const within = withinSize(range, value.size);
        const pieces = this.#pieces(reads.kv, key, value, within);
        return new BlobPieces(value, within, pieces, reads.close);
      }
    } catch (error) {
      reads.close();
      throw error;
    }
    reads.close();
    return undefined;
  }

  async #open(): Promise<BlobReads> {
    const view = await this.#kv.openView?.();
    return view === undefined
      ? { kv: this.#kv, close: () => undefined }
      : { kv: view, close: () => view.close() };
  }

  async *#pieces(
    kv: BlobReads["kv"],
    key: KvKey,
    { id, size, chunkBytes }: BlobHead,
    { start, end }: Required<BlobRange>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const last = Math.ceil(end / chunkBytes);
    for (let at = Math.floor(start / chunkBytes); at < last; at += chunksAtOnce) {
      const count = Math.min(chunksAtOnce, last - at);
      const keys = Array.from({ length: count }, (_, i) => this.#keys.chunk(id, at + i));
      const chunks: KvEntryMaybe<unknown>[] = await kv.getMany(keys);
      for (const [i, { value }] of chunks.entries()) {
        const offset = (at + i) * chunkBytes;
        const bytes = decodeChunk(value);
        if (bytes?.length !== Math.min(chunkBytes, size - offset))
          throw new BlobDamagedError(key, offset);
        yield bytes.subarray(Math.max(0, start - offset), end - offset);
      }
    }
  }
}

/** A range of a blob that is being read. */
class BlobPieces {
  readonly head: BlobHead;
  readonly #range: Required<BlobRange>;
  readonly #pieces: AsyncGenerator<Uint8Array, void, undefined>;
  readonly #close: () => void;

  /** @param close called when no more is read. */
  constructor(
    head: BlobHead,
    range: Required<BlobRange>,
    pieces: AsyncGenerator<Uint8Array, void, undefined>,
    close: () => void,
  ) {
    this.head = head;
    this.#range = range;
    this.#pieces = pieces;
    this.#close = close;
  }

  /** Reads the whole range. */
  async bytes(): Promise<Uint8Array> {
    const { start, end } = this.#range;
    const bytes = new Uint8Array(end - start);
    let length = 0;
    try {
      for await (const piece of this.#pieces) {
        bytes.set(piece, length);
        length += piece.length;
      }
    } finally {
      this.#close();
    }
    return bytes;
  }

  /** Reads a piece whenever the consumer of the stream wants one. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await this.#pieces.next();
            if (!done) {
              controller.enqueue(value);
              return;
            }
            controller.close();
          } catch (error) {
            controller.error(error);
          }
          this.#close();
        },
        cancel: () => this.#close(),
      },
      { highWaterMark: 0 },
    );
  }
}

function withinSize(
  { start = 0, end = Number.POSITIVE_INFINITY }: BlobRange,
  size: number,
): Required<BlobRange> {
  const from = Math.min(start, size);
  return { start: from, end: Math.max(from, Math.min(end, size)) };
}
