import type { KvKey } from "../../keys/key.js";
import { awaitAll } from "../../values/await-all.js";
import type { KvEntryMaybe } from "../kv.js";
import type { CopyReads } from "./copy-source.js";

/** The number of keys that Deno KV reads at once. Some databases do not report their limits. */
const denoKeys = 10;
const mostKeys = 100;

/** Reads many keys, with several calls of `getMany` if the database requires it. */
export async function readMany(
  kv: Pick<CopyReads, "getMany" | "limits">,
  keys: readonly KvKey[],
): Promise<KvEntryMaybe<unknown>[]> {
  const atOnce = Math.min(kv.limits?.keys ?? denoKeys, mostKeys);
  const reads: Promise<KvEntryMaybe<unknown>[]>[] = [];
  for (let i = 0; i < keys.length; i += atOnce) {
    reads.push(kv.getMany(keys.slice(i, i + atOnce)));
  }
  return (await awaitAll(reads)).flat();
}
