import {
  DatabaseNotFoundError,
  DatabasePathError,
  EngineFailedError,
} from "../../errors/core-errors.js";

const diskFailures: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EIO"]);

/** Returns the error for a folder that cannot be read or in which no database can be created. */
export function folderFailure(cause: unknown, location: string, createIfMissing: boolean): Error {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" && !createIfMissing) return new DatabaseNotFoundError(location);
  if (diskFailures.has(code)) return new EngineFailedError(cause, "open", location);
  return new DatabasePathError(location, reasonOf(cause), cause);
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "EEXIST" || code === "ENOTDIR")
    return "a file is in the way, and a database is a folder";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return "access to the folder is denied";
  return message;
}
