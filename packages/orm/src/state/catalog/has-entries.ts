import type { Kv } from "@keywright/core";

/** Returns whether a database has entries whose keys begin with a prefix. */
export async function hasEntries(kv: Kv, prefix: string): Promise<boolean> {
  const first = await kv.list({ prefix: [prefix] }, { limit: 1 }).next();
  return first.done !== true;
}
