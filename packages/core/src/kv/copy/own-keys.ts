import type { KvKey } from "../../keys/key.js";

export const progressKey: KvKey = ["__keywright", "copy"];
/** The key of a number that shows the class of such numbers in the target. */
export const u64Key: KvKey = ["__keywright", "copy", "u64"];

/** True if the key belongs to the copy itself. Such a key is not copied. */
export function isCopyKey(key: KvKey): boolean {
  return [progressKey, u64Key].some(
    (own) => own.length === key.length && own.every((part, index) => key[index] === part),
  );
}
