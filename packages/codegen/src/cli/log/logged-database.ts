import { type EmbeddedKv, type KvLike, LogUnsupportedError } from "@keywright/core";

const reason =
  "it is a database of Deno KV, or was opened by a client of Deno KV. Open a database of Keywright, or the URL of its server, with openKv of @keywright/core";

/**
 * Returns the database if it can keep a log.
 *
 * @throws {LogUnsupportedError} if it cannot, as Deno KV.
 */
export function loggedDatabase(kv: KvLike): EmbeddedKv {
  const { changes, consumers } = kv as Partial<EmbeddedKv>;
  if (typeof changes !== "function" || typeof consumers !== "function")
    throw new LogUnsupportedError(reason);
  return kv as EmbeddedKv;
}
