import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { isConsumerPositionKey } from "../../engine/log/consumer-keys.js";
import { encodeKey } from "../../keys/encode-key.js";
import { moveMarkKey } from "../open/marks/move-mark.js";
import { restoreMarkKey } from "../open/marks/restore-mark.js";

/**
 * The key of the target that has the versionstamp of the last commit of the source which was
 * copied. Each of these commits stores it, so an interrupted move continues after the right one.
 */
export const positionKey: Uint8Array = encodeKey(["__keywright", "restore", "position"]);

/** The key with which a commit is tried that the source has to refuse. */
export const trialKey: Uint8Array = encodeKey(["__keywright", "move", "trial"]);

const own = new Set([moveMarkKey, restoreMarkKey, positionKey, trialKey].map(textOfBytes));

/**
 * True if the key belongs to the move itself, or to a consumer of the log: its position is that of
 * a commit of the source. Such a key is not moved.
 */
export function isKeyOfMove(text: string, key: Uint8Array): boolean {
  return own.has(text) || isConsumerPositionKey(key);
}
