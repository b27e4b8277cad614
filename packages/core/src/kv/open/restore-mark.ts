import { encodeKey } from "../../keys/encode-key.js";

/**
 * The key of an entry that exists from the first to the last commit of a restore. A database that
 * has it cannot be opened for other purposes.
 */
export const restoreMarkKey: Uint8Array = encodeKey(["__keywright", "restore"]);
