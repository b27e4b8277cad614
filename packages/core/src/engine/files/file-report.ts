/** A place in a file of a database whose bytes are not those that were written. */
export interface FileDamage {
  /** The name of the file in the folder of the database. */
  readonly file: string;
  /** Where the damage begins, in bytes from the beginning of the file. */
  readonly offset: number;
  /** The damage as a clause: `a block does not match its checksum`. */
  readonly reason: string;
  /**
   * The encoded keys between which entries may be missing or wrong, both inclusive. The keys may be
   * those of the database itself. Undefined if they are not known.
   */
  readonly firstKey?: Uint8Array | undefined;
  readonly lastKey?: Uint8Array | undefined;
}

/** The result of a check of all files. */
export interface FileReport {
  /** The number of files with tables, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Empty if all files are intact. */
  readonly damages: readonly FileDamage[];
}
