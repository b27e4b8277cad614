/** The conditions of a batch, which decide if a write is applied. */
export const condition = {
  /** The key has the version `version` (null: no entry). */
  check: 0,
  /** The key has a `KvU64` or no entry. */
  isU64: 1,
  /** Never true. */
  never: 2,
  /** An earlier write of the batch was not applied. The key is its index, in 2 bytes. */
  notApplied: 3,
} as const;

/** The changes of a batch. */
export const change = {
  set: 0,
  /** Appends the versionstamp to the key as a string part. */
  setAtVersionstamp: 1,
  delete: 2,
  /** Deletes the key if it has expired. `value` is the key of its hint, due at `time`. */
  deleteExpired: 3,
} as const;

/** The combinations of a batch, which depend on the stored number. */
export const combination = { sum: 0, min: 1, max: 2 } as const;

/** The bits that tell which statements a wave needs. */
export const step = { conditions: 1, deletes: 2, deletesExpired: 4, sets: 8 } as const;
