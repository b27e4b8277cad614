import { awaitAll } from "./await-all.js";
import { encodeValue, valueFormat } from "./encode-value.js";
import { encodeGraph, type GraphBlob } from "./graph/encode-graph.js";
import { isPlain } from "./is-plain.js";
import { bigintOfU64 } from "./kv-u64.js";
import { packAfter } from "./message-pack/message-pack.js";

/**
 * Encodes a value as {@link encodeValue} does, and the bytes of each `Blob` and `File` in it. If it
 * has one, returns a promise, because the bytes can only be read asynchronously. Everything else is
 * copied before this function returns.
 *
 * @throws {UnsupportedValueError} if a part of the value cannot be stored.
 */
export function encodeWithBlobs(value: unknown): Uint8Array | Promise<Uint8Array> {
  if (isPlain(value) || bigintOfU64(value) !== undefined) return encodeValue(value);
  const blobs: GraphBlob[] = [];
  const graph = encodeGraph(value, blobs);
  if (blobs.length === 0) return packAfter(valueFormat.graph, graph);
  return readBlobs(blobs).then(() => packAfter(valueFormat.graph, graph));
}

async function readBlobs(blobs: readonly GraphBlob[]): Promise<void> {
  await awaitAll(
    blobs.map(async ({ blob, node }) => {
      node[1] = new Uint8Array(await blob.arrayBuffer());
    }),
  );
}
