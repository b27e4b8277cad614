import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { RequestError } from "./request-error.js";

/** @throws {RequestError} if the body has more than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    assertLength(length, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** @throws {RequestError} if a body is too long. */
export function assertLength(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new RequestError(413, `A body can have at most ${maxBytes} bytes.`);
}
