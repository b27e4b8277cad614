/**
 * A place that keeps the objects of backups under names, such as a folder or a bucket. A name has
 * the characters `0-9 a-z . - /`.
 */
export interface BackupSink {
  /**
   * Stores an object. It is there completely or not at all, also if the program or the machine
   * stops, and it survives a power cut as soon as the promise resolves. Replaces an object that has
   * the name.
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Returns an object, or undefined if there is none. */
  get(name: string): Promise<Uint8Array | undefined>;
  /**
   * Returns the names of all objects that begin with a prefix, in any order, also of those that
   * another program has put a moment ago.
   */
  list(prefix: string): Promise<readonly string[]>;
  /** Removes an object, if there is one. */
  delete(name: string): Promise<void>;
  /**
   * Removes what interrupted calls of `put` have left, if there can be something. It leaves alone
   * what another program may be writing.
   */
  removeRemains?(): Promise<void>;
}
