import { KeywrightError } from "./keywright-error.js";

/** A lock that another holder still had when the time to wait was over. */
export class LockTakenError extends KeywrightError {
  /** The key of the lock, as parts. */
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[];

  constructor(key: LockTakenError["key"]) {
    const message =
      "The lock is taken, and was not free within waitFor. Call again later, or wait longer.";
    super("KW_LOCK_TAKEN", message, { retryable: true });
    this.key = key;
  }
}

/** A lock whose lease ended while its holder worked, so that another one may have taken it. */
export class LockLostError extends KeywrightError {
  /** The key of the lock, as parts. */
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[];

  /** @param cause the error of the database, if the lease could not be renewed because of one. */
  constructor(key: LockLostError["key"], cause?: unknown) {
    const message =
      "The lock was lost while its task ran: the lease ended before it could be renewed. What the task has written without the check of the lock may overlap with the next holder.";
    super("KW_LOCK_LOST", message, { cause });
    this.key = key;
  }
}

/** A write of a blob that was idle for so long that its data was deleted. */
export class BlobAbandonedError extends KeywrightError {
  /** The key of the blob, as parts. */
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[];

  constructor(key: BlobAbandonedError["key"]) {
    const message =
      "The write of a blob stood still for so long that its data was deleted. The blob is as it was before. Write it again.";
    super("KW_BLOB_ABANDONED", message, { retryable: true });
    this.key = key;
  }
}

/** A blob of which a part is missing, or is not as it was written. */
export class BlobDamagedError extends KeywrightError {
  /** The key of the blob, as parts. */
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[];
  /** Where the part begins, in bytes from the beginning of the blob. */
  readonly offset: number;

  constructor(key: BlobDamagedError["key"], offset: number) {
    const message = `A blob is damaged: its part at byte ${offset} is missing or does not match its checksum. Write the blob again, or restore it from a backup.`;
    super("KW_BLOB_DAMAGED", message);
    this.key = key;
    this.offset = offset;
  }
}
