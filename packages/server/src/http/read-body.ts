import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { BufferedBytes } from "@keywright/core/serve";
import type { HeldBytes } from "./buffers.js";
import { RequestError } from "./request-error.js";

/** The first bytes of a body do not count, so that small requests are always answered. */
const freeBytes = 16 * 1024;

/**
 * Reads a body. Its bytes count when they arrive, not when they are announced.
 *
 * @param held receives what the body holds until the request is answered.
 * @throws {RequestError} if the body has more than `maxBytes`, or if the clients that share a limit
 * hold too much. Clients then try it again.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  shared: BufferedBytes,
  held: HeldBytes[],
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  let counted = 0;
  const resize = (bytes: number) => {
    shared.change(bytes - counted);
    counted = bytes;
  };
  held.push({ resize, release: () => resize(0) });
  // A body that is refused still gets its answer.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    length += chunk.length;
    assertLength(length, maxBytes);
    const countable = Math.max(0, length - freeBytes);
    if (countable > counted && !shared.fits(countable - counted))
      throw new RequestError(503, "The server holds too many requests that are not complete.");
    resize(countable);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** @throws {RequestError} if a body is too long. */
export function assertLength(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new RequestError(413, `A body can have at most ${maxBytes} bytes.`);
}
