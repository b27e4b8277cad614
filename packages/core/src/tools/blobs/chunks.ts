import { types } from "#platform";
import { crc32 } from "../../bytes/crc32.js";
import { InvalidOptionError } from "../../errors/core-errors.js";

const checksumBytes = 4;

/** Returns a chunk as it is stored: the bytes, and their CRC-32 (big-endian). */
export function encodeChunk(bytes: Uint8Array): Uint8Array {
  const chunk = new Uint8Array(bytes.length + checksumBytes);
  chunk.set(bytes);
  new DataView(chunk.buffer).setUint32(bytes.length, crc32(bytes));
  return chunk;
}

/** Returns the bytes of a chunk, or undefined if it is not one with the right checksum. */
export function decodeChunk(chunk: unknown): Uint8Array | undefined {
  if (!(chunk instanceof Uint8Array) || chunk.length < checksumBytes) return undefined;
  const end = chunk.length - checksumBytes;
  const bytes = chunk.subarray(0, end);
  const stored = new DataView(chunk.buffer, chunk.byteOffset).getUint32(end);
  return crc32(bytes) >>> 0 === stored ? bytes : undefined;
}

/** What a blob can be made of. */
export type BlobSource =
  | Uint8Array
  | ArrayBuffer
  | Blob
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>;

/**
 * Divides data into chunks of `size` bytes. The last one is shorter.
 *
 * @throws {InvalidOptionError} if the data is not bytes.
 * @throws the reason of the signal, also while it waits for the source.
 */
export async function* chunksOf(
  source: BlobSource,
  size: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let chunk = new Uint8Array(size);
  let length = 0;
  for await (const piece of untilAborted(piecesOf(source), signal)) {
    let bytes: Uint8Array = asBytes(piece);
    while (bytes.length > 0) {
      const part = bytes.subarray(0, size - length);
      chunk.set(part, length);
      length += part.length;
      bytes = bytes.subarray(part.length);
      if (length < size) continue;
      yield chunk;
      chunk = new Uint8Array(size);
      length = 0;
    }
  }
  if (length > 0) yield chunk.subarray(0, length);
}

async function* piecesOf(source: BlobSource): AsyncGenerator<unknown> {
  if (types.isUint8Array(source)) yield source;
  else if (types.isArrayBuffer(source)) yield new Uint8Array(source);
  else if (source instanceof Blob) yield* source.stream() as unknown as AsyncIterable<unknown>;
  else if (isIterable(source)) yield* source;
  else throw notBytes();
}

/** A text is one too, but it has no bytes. */
function isIterable(source: unknown): source is AsyncIterable<unknown> | Iterable<unknown> {
  if (typeof source !== "object" || source === null) return false;
  return Symbol.asyncIterator in source || Symbol.iterator in source;
}

function asBytes(piece: unknown): Uint8Array {
  // Other arrays would be stored as something else without an error.
  if (!types.isUint8Array(piece)) throw notBytes();
  return piece;
}

function notBytes(): InvalidOptionError {
  const reason = "must be a Uint8Array, an ArrayBuffer, a Blob, or a stream of Uint8Arrays";
  return new InvalidOptionError("data", reason, "set");
}

async function* untilAborted<T>(
  pieces: AsyncGenerator<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  if (signal === undefined) {
    yield* pieces;
    return;
  }
  try {
    for (;;) {
      const { done, value } = await orAborted(pieces.next(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    // It waits until the source answers.
    pieces.return(undefined).catch(() => undefined);
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    const end = () => signal.removeEventListener("abort", onAbort);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(end);
  });
}
