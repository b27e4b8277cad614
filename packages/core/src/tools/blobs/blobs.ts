import { InvalidOptionError } from "../../errors/core-errors.js";
import { BlobDamagedError } from "../../errors/tool-errors.js";
import type { KvKey } from "../../keys/key.js";
import type { Kv, KvLike } from "../../kv/kv.js";
import { type BlobHead, BlobKeys } from "./blob-keys.js";
import { type BlobRange, BlobReader } from "./blob-reader.js";
import { abandonedAfter, type BlobSetOptions, BlobWriter } from "./blob-writer.js";
import type { BlobSource } from "./chunks.js";

/** What is known of a blob without reading it. */
export interface BlobInfo {
  /** Bytes. */
  readonly size: number;
  /** The media type, or an empty text. */
  readonly type: string;
  readonly modifiedAt: Date;
}

/** Large values, each under a key. See {@link blobs}. */
export interface Blobs {
  /**
   * Stores a blob, and replaces the one before as a whole: until the last byte is written, others
   * read the old one. A stream may have any length, and is never in memory as a whole.
   *
   * @throws {BlobAbandonedError} if the write stood still for an hour.
   * @throws {InvalidOptionError} if the data is not bytes, or if an option is not valid.
   */
  set(key: KvKey, data: BlobSource, options?: BlobSetOptions): Promise<BlobInfo>;
  /**
   * Reads a blob or a range of it. Returns undefined if there is none.
   *
   * @throws {BlobDamagedError} if a part is missing or does not match its checksum.
   */
  get(key: KvKey, range?: BlobRange): Promise<Uint8Array | undefined>;
  /**
   * Like `get`, but reads while the stream is consumed. Cancel a stream that is not read to its
   * end.
   */
  stream(
    key: KvKey,
    range?: BlobRange,
  ): Promise<(BlobInfo & { readonly stream: ReadableStream<Uint8Array> }) | undefined>;
  info(key: KvKey): Promise<BlobInfo | undefined>;
  /** Lists the blobs whose keys begin with some parts and have more, in key order. */
  list(prefix?: KvKey): AsyncGenerator<BlobInfo & { readonly key: KvKey }, void, undefined>;
  /** Deletes a blob. Returns false if there was none. */
  delete(key: KvKey): Promise<boolean>;
  /**
   * Deletes data that processes have left which ended in the middle of a write or deletion. Writes
   * do this too, for a few at a time. Returns how many there were.
   */
  clean(): Promise<number>;
}

/**
 * Stores values of any size in a database, also in Deno KV, whose values have at most 64 KiB. A
 * blob is divided into chunks of 60,000 bytes with a checksum.
 *
 * ```ts
 * const files = blobs(kv, ["files"]);
 * await files.set(["ada", "portrait"], await readFile("ada.png"), { type: "image/png" });
 * const part = await files.get(["ada", "portrait"], { start: 0, end: 100 });
 * ```
 *
 * @param prefix the first parts of the keys under which everything is stored.
 */
export function blobs(database: KvLike, prefix: KvKey = ["blobs"]): Blobs {
  const kv = database as Kv;
  const keys = new BlobKeys(prefix);
  const [reader, writer] = [new BlobReader(kv, keys), new BlobWriter(kv, keys)];
  return {
    set: async (key, data, options = {}) => infoOf(await writer.set(key, data, options)),
    get: async (key, range = {}) => {
      assertRange(range, "get");
      for (;;) {
        const pieces = await reader.pieces(key, range);
        try {
          return await pieces?.bytes();
        } catch (error) {
          if (!(error instanceof BlobDamagedError)) throw error;
          // A database without views deletes the data of a blob while it is read and replaced.
          if ((await reader.head(key))?.id === pieces?.head.id) throw error;
        }
      }
    },
    stream: async (key, range = {}) => {
      assertRange(range, "stream");
      const pieces = await reader.pieces(key, range);
      return pieces && { ...infoOf(pieces.head), stream: pieces.stream() };
    },
    info: async (key) => {
      const head = await reader.head(key);
      return head && infoOf(head);
    },
    list: async function* (parts = []) {
      const { length } = keys.heads;
      for await (const { key, value } of kv.list<BlobHead>({ prefix: keys.head(parts) }))
        yield { key: key.slice(length), ...infoOf(value) };
    },
    delete: (key) => writer.delete(key),
    clean: () => writer.clean(abandonedAfter, Number.POSITIVE_INFINITY),
  };
}

function infoOf({ size, type = "", modifiedAt }: BlobHead): BlobInfo {
  return { size, type, modifiedAt: new Date(modifiedAt) };
}

function assertRange(range: BlobRange, operation: string): void {
  for (const name of ["start", "end"] as const) {
    const value = range[name] ?? 0;
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new InvalidOptionError(name, "must be a whole number of bytes, from 0", operation);
  }
}
