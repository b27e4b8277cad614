import { CopyUnreadableError } from "../../errors/copy-errors.js";
import type { KvKey } from "../../keys/key.js";
import type { KvEntry } from "../kv.js";
import type { CopyReads } from "./copy-source.js";
import { isCopyKey } from "./own-keys.js";

/**
 * Lists the entries to copy, in key order.
 *
 * @throws {CopyUnreadableError} if this runtime cannot decode a value.
 */
export async function* listSource(from: Pick<CopyReads, "list">): AsyncGenerator<KvEntry<unknown>> {
  let last: KvKey | undefined;
  try {
    for await (const entry of from.list({ prefix: [] }, { batchSize: 500 })) {
      last = entry.key;
      if (!isCopyKey(entry.key)) yield entry;
    }
  } catch (error) {
    throw isUndecodable(error) ? new CopyUnreadableError(last, error) : error;
  }
}

/** True for the errors of V8 about values that a newer version has encoded. */
function isUndecodable(error: unknown): boolean {
  return error instanceof Error && /\bdeserialize cloned data\b/i.test(error.message);
}
