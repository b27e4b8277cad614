import { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { Packr } from "msgpackr";
import { LimitExceededError } from "../../errors/core-errors.js";
import { checkMessagePack } from "../../values/message-pack/check-message-pack.js";

const packr = new Packr({ useRecords: false, variableMapSize: true });
const headerBytes = 4;
/** Larger bodies are written by themselves instead of being copied after their header. */
const maxCopiedBytes = 64 * 1024;

/** Messages have lists of writes, which have lists of mutations. */
const maxDepth = 16;

/** A message of the other side that is not one of the protocol, or is too large. */
export class FrameError extends Error {}

/**
 * Writes messages to a stream, each as a frame: the length of the body in four bytes, big-endian,
 * and the body as MessagePack. The messages of one turn of the event loop are written together.
 */
export class FrameWriter {
  /** The largest body that the other side accepts. */
  maxBytes: number = Number.POSITIVE_INFINITY;
  /** The bytes of all frames that were written. */
  bytes = 0;
  readonly #stream: Duplex;
  #isCorked = false;

  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  /** @throws {LimitExceededError} if the other side would not accept the message. */
  write(message: unknown): void {
    const stream = this.#stream;
    if (!stream.writable) return;
    const body = packr.pack(message);
    if (body.length > this.maxBytes)
      throw new LimitExceededError("totalMutationBytes", this.maxBytes, body.length);
    this.bytes += headerBytes + body.length;
    if (!this.#isCorked) {
      this.#isCorked = true;
      stream.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        stream.uncork();
      });
    }
    if (body.length > maxCopiedBytes) {
      const header = Buffer.alloc(headerBytes);
      header.writeUInt32BE(body.length);
      stream.write(header);
      stream.write(body);
      return;
    }
    const frame = Buffer.allocUnsafe(headerBytes + body.length);
    frame.writeUInt32BE(body.length);
    frame.set(body, headerBytes);
    stream.write(frame);
  }
}

/** Takes messages from the chunks of a stream. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #isTrusted: boolean;
  #chunks: Buffer[] = [];
  #length = 0;

  /**
   * @param maxBytes the largest body that is accepted.
   * @param isTrusted true if the other side has all the data, so that its messages are not checked.
   */
  constructor(maxBytes: number, isTrusted: boolean) {
    this.#maxBytes = maxBytes;
    this.#isTrusted = isTrusted;
  }

  /** The bytes of messages that were not returned yet. */
  get length(): number {
    return this.#length;
  }

  /** Adds a chunk, and returns the messages that are complete. Throws as {@link next} does. */
  push(chunk: Buffer): unknown[] {
    this.add(chunk);
    const messages: unknown[] = [];
    for (let next = this.next(); next !== undefined; next = this.next()) messages.push(next);
    return messages;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /**
   * Returns the next message, or undefined if none is complete.
   *
   * @throws {FrameError} if a frame is too large, or its body is not a message.
   */
  next(): unknown {
    if (this.#length < headerBytes) return undefined;
    const end = headerBytes + this.#nextLength();
    // The header alone tells whether it is worth copying a large body together.
    if (this.#length < end) return undefined;
    let bytes = this.#chunks[0]!;
    if (bytes.length < end) bytes = Buffer.concat(this.#chunks, this.#length);
    if (bytes !== this.#chunks[0]) this.#chunks = [bytes];
    if (bytes.length === end) this.#chunks.shift();
    else this.#chunks[0] = bytes.subarray(end);
    this.#length -= end;
    return this.#unpack(bytes.subarray(headerBytes, end));
  }

  #nextLength(): number {
    const [first] = this.#chunks;
    const header =
      first!.length >= headerBytes ? first! : Buffer.concat(this.#chunks).subarray(0, headerBytes);
    return this.#checkedLength(header.readUInt32BE(0));
  }

  #checkedLength(length: number): number {
    if (length > this.#maxBytes)
      throw new FrameError(
        `a message has ${length} bytes, and at most ${this.#maxBytes} are allowed`,
      );
    return length;
  }

  #unpack(body: Buffer): unknown {
    let message: unknown;
    try {
      if (!this.#isTrusted) checkMessagePack(body, 0, maxDepth);
      message = packr.unpack(body);
    } catch (cause) {
      throw new FrameError("a message is not MessagePack", { cause });
    }
    if (!Array.isArray(message)) throw new FrameError("a message is not a list");
    return message;
  }
}
