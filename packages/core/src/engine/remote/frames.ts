import { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { Packr } from "msgpackr";
import { LimitExceededError } from "../../errors/core-errors.js";
import { checkMessagePack } from "../../values/check-message-pack.js";

const packr = new Packr({ useRecords: false, variableMapSize: true });
const headerBytes = 4;
/** Larger bodies are written by themselves instead of being copied behind their header. */
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

  /**
   * Adds a chunk, and returns the messages that are complete.
   *
   * @throws {FrameError} if a frame is too large, or its body is not MessagePack.
   */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < headerBytes) return [];
    const messages: unknown[] = [];
    let bytes = this.#chunks[0]!;
    if (this.#chunks.length > 1) {
      // The header alone tells whether it is worth copying a large body together.
      if (this.#length < headerBytes + this.#nextLength()) return [];
      bytes = Buffer.concat(this.#chunks, this.#length);
    }
    let offset = 0;
    while (bytes.length - offset >= headerBytes) {
      const end = offset + headerBytes + this.#checkedLength(bytes.readUInt32BE(offset));
      if (end > bytes.length) break;
      messages.push(this.#unpack(bytes.subarray(offset + headerBytes, end)));
      offset = end;
    }
    this.#chunks = offset === bytes.length ? [] : [bytes.subarray(offset)];
    this.#length = bytes.length - offset;
    return messages;
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
    try {
      if (!this.#isTrusted) checkMessagePack(body, 0, maxDepth);
      return packr.unpack(body);
    } catch (cause) {
      throw new FrameError("a message is not MessagePack", { cause });
    }
  }
}
