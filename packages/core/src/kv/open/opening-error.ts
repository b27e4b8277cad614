import {
  CorruptionError,
  DatabaseLockedError,
  DatabasePathError,
  EngineFailedError,
} from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";

export const unwritable = "access to the folder is denied";

/** Returns the error of a failed opening with the path, and with what can be done. */
export function openingError(location: string, error: unknown): Error {
  if (isKeywrightError(error)) return error;
  const { code: ownCode, syscall } = error as NodeJS.ErrnoException;
  if (isDiskFailure(ownCode)) return new EngineFailedError(error, "open", location);
  if (syscall !== undefined) return new DatabasePathError(location, reasonOf(error), error);
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (code === "LEVEL_LOCKED") return new DatabaseLockedError(location, error);
  const text = cause instanceof Error ? cause.message : String(error);
  const reason = text.replace(/^Corruption: /, "");
  if (code === "LEVEL_CORRUPTION") return new CorruptionError(reason, undefined, error, location);
  if (code === "LEVEL_IO_ERROR" && !isPathFailure(reason))
    return new EngineFailedError(cause, "open", location);
  return new DatabasePathError(location, reason, error);
}

/** True for a failure of LevelDB that another path or other permissions correct. */
function isPathFailure(reason: string): boolean {
  return /denied|not permitted|read-only|directory/i.test(reason);
}

export function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "EEXIST" || code === "ENOTDIR")
    return "a file is in the way, and a database is a folder";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return unwritable;
  return message;
}

/** True if the disk is full or fails, or if the process can open no more files. */
export function isDiskFailure(code: string | undefined): boolean {
  return ["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE"].includes(code ?? "");
}
