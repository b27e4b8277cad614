import {
  CorruptionError,
  DatabaseClosedError,
  DatabaseFormatError,
  DatabasePathError,
  EngineFailedError,
  isKeywrightError,
} from "@keywright/core";

/** Error codes of LMDB that its documentation explains. */
const invalidFile = -30793;
const versionMismatch = -30794;
const corrupted = -30796;
const pageNotFound = -30797;
/** A transaction that has met a damaged page. */
const unusableTransaction = -30782;
const damagedPage = "LMDB found a damaged page";
const damageCodes: readonly unknown[] = [corrupted, pageNotFound, unusableTransaction];

/** Converts the error of a failed read. */
export function readFailure(error: unknown, key?: Uint8Array): Error {
  if (isKeywrightError(error)) return error;
  if (isDamage(error)) return new CorruptionError(damagedPage, key, error);
  const { message } = error as { message?: unknown };
  if (/closed/i.test(String(message))) return new DatabaseClosedError();
  return new EngineFailedError(error, "read");
}

function isDamage(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  // The package lmdb finds keys or values of impossible sizes.
  const isImpossible = error instanceof RangeError || /invalid key size/i.test(String(message));
  return damageCodes.includes(code) || isImpossible;
}

/** Converts the error of a failed attempt to open the file at a path. */
export function openingFailure(error: unknown, path: string): Error {
  if (error instanceof DatabaseFormatError) return new DatabaseFormatError(error.reason, path);
  if (error instanceof CorruptionError)
    return new CorruptionError(error.reason, error.key, error.cause, path);
  if (isKeywrightError(error)) return error;
  if (isDamage(error)) return new CorruptionError(damagedPage, undefined, error, path);
  const { code, syscall } = error as NodeJS.ErrnoException & { code?: unknown };
  if (code === (invalidFile as unknown))
    return new DatabaseFormatError("it is no LMDB file, or its first pages are damaged", path);
  if (code === (versionMismatch as unknown))
    return new DatabaseFormatError("its file has another version of LMDB's format", path);
  if (syscall !== undefined || typeof code === "number")
    return new DatabasePathError(path, (error as Error).message, error);
  return new EngineFailedError(error, "open", path);
}
