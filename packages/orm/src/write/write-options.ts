/** How a row is written. */
export interface WriteOptions {
  /** For how long the row and its index entries are there, in milliseconds. */
  readonly expireIn?: number | undefined;
  /** The versionstamp that the row must have. */
  readonly ifVersion?: string | undefined;
}
