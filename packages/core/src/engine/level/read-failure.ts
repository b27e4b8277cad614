import {
  CorruptionError,
  DatabaseClosedError,
  EngineFailedError,
} from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";

/** What a failed read of an abstract-level database means: `key` is the one that was read, where it was one. */
export function readFailure(error: unknown, key?: Uint8Array): Error {
  if (isKeywrightError(error)) return error;
  switch ((error as { code?: unknown }).code) {
    case "LEVEL_CORRUPTION":
      return new CorruptionError("LevelDB found a damaged block or file", key, error);
    // A read that was under way when the database was closed.
    case "LEVEL_DATABASE_NOT_OPEN":
    case "LEVEL_ITERATOR_NOT_OPEN":
    case "LEVEL_SNAPSHOT_NOT_OPEN":
      return new DatabaseClosedError();
    default:
      return new EngineFailedError(error);
  }
}
