import { MalformedValueError } from "../errors/core-errors.js";
import { decodeValue } from "./decode-value.js";
import { valueFormat } from "./encode-value.js";
import { checkMessagePack } from "./message-pack/check-message-pack.js";

/** More than the depth of plain data, and of the nodes of a graph. */
const maxDepth = 128;

/**
 * Decodes a value that another program has encoded. Before, it checks that decoding takes memory in
 * proportion to the bytes.
 *
 * @throws {MalformedValueError} if {@link decodeValue} throws it, or if the bytes have lengths or a
 * depth that no encoded value has.
 * @throws {UnreadableValueError} if this runtime does not support a regular expression in the
 * value.
 */
export function decodeForeignValue(bytes: Uint8Array): unknown {
  if (bytes[0] === valueFormat.plain || bytes[0] === valueFormat.graph) {
    try {
      checkMessagePack(bytes, 1, maxDepth);
    } catch (cause) {
      throw new MalformedValueError("its bytes are not one complete value", cause);
    }
  }
  return decodeValue(bytes);
}
