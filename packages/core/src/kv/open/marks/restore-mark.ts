import type { StoredEntry } from "../../../engine/engine.js";
import { MoveUnfinishedError, RestoreUnfinishedError } from "../../../errors/copy-errors.js";
import { encodeKey } from "../../../keys/encode-key.js";
import { decodeValue } from "../../../values/decode-value.js";

/**
 * The key of an entry that exists from the first to the last commit of a restore, or of a move into
 * the database. A database that has it cannot be opened for other purposes.
 */
export const restoreMarkKey: Uint8Array = encodeKey(["__keywright", "restore"]);

/** What the value of the mark of a move begins with. That of a restore is a text. */
export const moveValue = "move";

/** Returns the error of a database that has the mark. */
export function unfinishedError({ value }: StoredEntry, path: string | undefined): Error {
  const stored = decodeValue(value);
  const isMove = Array.isArray(stored) && stored[0] === moveValue;
  return isMove ? new MoveUnfinishedError(path) : new RestoreUnfinishedError(path);
}
