import { statSync } from "node:fs";

/** Which file is at a path. */
export interface FileId {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Returns undefined if there is no file. */
export function fileIdOf(path: string): FileId | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/**
 * Verifies that a file is still at its path. Locks protect a path, not a file: if the file was
 * moved, another process could open it at its new path, and what is written to a deleted file is
 * lost.
 *
 * @throws if the file was moved, replaced or deleted.
 */
export function assertInPlace(path: string, file: FileId | undefined): void {
  const found = fileIdOf(path);
  if (found !== undefined && found.dev === file?.dev && found.ino === file.ino) return;
  throw new Error(`the file is no longer at ${path}, but was moved, replaced or deleted`);
}
