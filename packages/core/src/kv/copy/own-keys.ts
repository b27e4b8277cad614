import type { KvKey } from "../../keys/key.js";

/** A database that was moved has it. A copy of it is not moved. */
const moveKey: KvKey = ["__keywright", "move"];

export const progressKey: KvKey = ["__keywright", "copy"];
/** The key of a number that shows the class of such numbers in the target. */
export const u64Key: KvKey = ["__keywright", "copy", "u64"];

/** The first parts of keys under which the ids of copied messages are stored, in lists. */
export const messagesKey: KvKey = ["__keywright", "copy", "messages"];

/** True if the key belongs to copies and moves themselves. Such a key is not copied. */
export function isCopyKey(key: KvKey): boolean {
  const begins = (own: KvKey) => own.every((part, index) => key[index] === part);
  return (
    [progressKey, u64Key, moveKey].some((own) => own.length === key.length && begins(own)) ||
    begins(messagesKey)
  );
}
