import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { RequestError } from "./request-error.js";

/** @throws {RequestError} if the body has more than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes)
      throw new RequestError(413, `A body can have at most ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
