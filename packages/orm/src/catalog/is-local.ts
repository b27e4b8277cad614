import type { Kv, KvLimits } from "@keywright/core";

/** True if only this process uses a database, as far as the database tells. */
export function isLocal(
  kv: Kv & { readonly limits?: KvLimits; readonly isShared?: boolean },
): boolean {
  return kv.limits !== undefined && kv.isShared !== true;
}
