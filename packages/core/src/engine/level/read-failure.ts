import {
  CorruptionError,
  DatabaseClosedError,
  EngineFailedError,
} from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";

/** Converts the error of a failed read of an abstract-level database. */
export function readFailure(error: unknown, key?: Uint8Array): Error {
  if (isKeywrightError(error)) return error;
  const unreadable = /(\d+\.(?:ldb|sst)): (?:Invalid argument|No such file)/.exec(String(error));
  if (unreadable !== null) {
    const reason = `LevelDB cannot read its file ${unreadable[1]}, which is missing or too short`;
    return new CorruptionError(reason, key, error, undefined, { file: unreadable[1] });
  }
  switch ((error as { code?: unknown }).code) {
    case "LEVEL_CORRUPTION":
      return new CorruptionError("LevelDB found a damaged block or file", key, error);
    // The database was closed before or during the read.
    case "LEVEL_DATABASE_NOT_OPEN":
    case "LEVEL_ITERATOR_NOT_OPEN":
    case "LEVEL_SNAPSHOT_NOT_OPEN":
      return new DatabaseClosedError();
    default:
      return new EngineFailedError(error, "read");
  }
}
