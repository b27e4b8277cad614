/** A place in a file of a LevelDB database whose bytes are not those that were written. */
export interface FileDamage {
  /** The name of the file in the folder of the database. */
  readonly file: string;
  /** Where the damage begins, in bytes from the beginning of the file. */
  readonly offset: number;
  /** The damage as a clause: `a block does not match its checksum`. */
  readonly reason: string;
  /**
   * The encoded keys between which entries may be missing or wrong, both inclusive. Undefined if
   * they are not known, or if the range is open on this side.
   */
  readonly firstKey?: Uint8Array | undefined;
  readonly lastKey?: Uint8Array | undefined;
}
