/** The operations of a batch. The function of the database reads them in order. */
export const operation = {
  /** Begins the next atomic write. */
  begin: 0,
  /** Refuses the write unless the key has the version `value` (null: no entry). */
  check: 1,
  /** Makes the outcome of the write an error unless the key has a `KvU64` or no entry. */
  checkU64: 2,
  /** Makes the outcome of the write an error. */
  fail: 3,
  set: 4,
  /** Appends the versionstamp to the key as a string part. */
  setAtVersionstamp: 5,
  delete: 6,
  /** Deletes the key if it has expired. `value` is the key of its hint, due at `time`. */
  deleteExpired: 7,
  sum: 8,
  min: 9,
  max: 10,
} as const;

/**
 * The outcome of a write that a check refused. An applied write has its order in the batch, and a
 * failed one a lower number: minus one, minus the index of the failed operation, counted from 1.
 */
export const refused: number = -1;
