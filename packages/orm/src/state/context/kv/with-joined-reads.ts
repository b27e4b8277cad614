import type { Kv, KvEntryMaybe, KvKey } from "@keywright/core";
import { JoinedReads } from "../../transaction/reads/joined-reads.js";
import type { ModelStore } from "../model-store.js";
import { kvWith } from "./kv-with.js";

/**
 * Returns a context in which keys that are read in the same turn are one request, for work on many
 * rows at the same time. If that request fails, each of the reads is made alone.
 *
 * @param readTogether reads any number of keys.
 */
export function withJoinedReads<Context extends ModelStore>(
  context: Context,
  readTogether: (keys: readonly KvKey[]) => Promise<KvEntryMaybe<unknown>[]>,
): Context {
  const { kv } = context;
  const reads = new JoinedReads<KvKey>(async (keys) => {
    try {
      return await readTogether(keys);
    } catch (error) {
      if (keys.length === 1) throw error;
      return [];
    }
  });
  const read = async (keys: readonly KvKey[]): Promise<KvEntryMaybe<unknown>[]> => {
    const entries = await reads.read(keys);
    return entries.length === keys.length ? entries : await readTogether(keys);
  };
  const get: Kv["get"] = async <T>(key: KvKey) => (await read([key]))[0] as KvEntryMaybe<T>;
  const getMany = ((keys: readonly KvKey[]) => read(keys)) as unknown as Kv["getMany"];
  return { ...context, kv: kvWith(kv, { get, getMany }) };
}
