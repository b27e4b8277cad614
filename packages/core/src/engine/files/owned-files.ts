import type { Engine } from "../engine.js";

/**
 * A database in a file that one process owns at a time, for an engine that cannot be used by
 * several processes. `openKv` takes a lock next to the real path of the file, and then opens the
 * file. If another process has the lock, `openKv` attaches to that process, as with a folder.
 */
export interface OwnedFiles {
  /** The path of the file, which may contain symbolic links. */
  readonly path: string;
  /** True if a missing file may be created, unless an option of `openKv` forbids it. */
  readonly createIfMissing: boolean;
  /**
   * Verifies that the existing file at a path is one of this engine, as far as this is possible
   * without the lock. It only reads the file with `node:fs`.
   *
   * @throws {DatabaseFormatError} if it is another file.
   * @throws {CorruptionError} if it is damaged.
   */
  assertFile(path: string): Promise<void>;
  /**
   * Opens the file at its real path, and creates it if it is missing. Only `openKv` calls this,
   * while it has the lock.
   */
  openFile(path: string): Promise<Engine>;
  /**
   * Opens the existing file for reads only, and writes no other file. Only `openKv` calls this, if
   * it cannot take the lock because nothing can be written there.
   */
  openUnlocked(path: string): Promise<Engine>;
}

export function isOwnedFiles(where: unknown): where is OwnedFiles {
  const { openFile, openUnlocked } = (where ?? {}) as Partial<OwnedFiles>;
  return typeof openFile === "function" && typeof openUnlocked === "function";
}
