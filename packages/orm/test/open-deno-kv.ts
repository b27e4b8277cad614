import { openKv } from "@deno/kv";
import { decodeValue, encodeValue, type Kv } from "@keywright/core";

/**
 * Opens Deno KV itself, in memory. On Bun, which cannot write values in V8's format, it stores them
 * in Keywright's.
 */
export async function openDenoKv(): Promise<Kv> {
  const isBun = process.versions.bun !== undefined;
  const codec = isBun ? { encodeV8: encodeValue, decodeV8: decodeValue } : {};
  return await openKv(":memory:", { implementation: "sqlite", ...codec });
}
