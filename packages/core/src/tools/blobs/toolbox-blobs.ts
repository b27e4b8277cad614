import type { KvKey } from "../../keys/key.js";
import type { Kv, KvLike } from "../../kv/kv.js";

/** The parts of keys after that of a blob of kv-toolbox: https://jsr.io/@kitsonk/kv-toolbox */
const chunksPart = "__kv_toolbox_blob__";
const metaPart = "__kv_toolbox_meta__";

/** A blob that kv-toolbox has stored. */
export interface ToolboxBlob {
  readonly key: KvKey;
  /** The media type, or an empty text. */
  readonly type: string;
  /** True if kv-toolbox has encrypted the data. */
  readonly isEncrypted: boolean;
  readonly data: AsyncIterable<Uint8Array>;
}

/**
 * Lists the blobs that kv-toolbox has stored in a database, so that they can be stored again:
 *
 * ```ts
 * for await (const { key, data, type } of toolboxBlobs(kv)) await files.set(key, data, { type });
 * ```
 */
export async function* toolboxBlobs(
  database: KvLike,
  prefix: KvKey = [],
): AsyncGenerator<ToolboxBlob, void, undefined> {
  const kv = database as Kv;
  for await (const { key, value } of kv.list({ prefix })) {
    const last = key.at(-1);
    if (last === metaPart) yield blobOf(kv, key.slice(0, -1), value);
    // Early versions of kv-toolbox stored bytes without a description.
    if (last !== 1 || key.at(-2) !== chunksPart) continue;
    const own = key.slice(0, -2);
    const meta = await kv.get([...own, metaPart]);
    if (meta.versionstamp === null) yield blobOf(kv, own, {});
  }
}

function blobOf(kv: Kv, key: KvKey, meta: unknown): ToolboxBlob {
  const { type = "", encrypted = false } = meta as { type?: string; encrypted?: boolean };
  return { key, type, isEncrypted: encrypted, data: chunksOf(kv, [...key, chunksPart]) };
}

async function* chunksOf(kv: Kv, prefix: KvKey): AsyncGenerator<Uint8Array> {
  const chunks = kv.list<Uint8Array>({ prefix }, { batchSize: 10 });
  for await (const { value } of chunks) yield value;
}
