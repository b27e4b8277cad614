import { KeywrightError } from "./keywright-error.js";

/** A part of a backup that is missing, or whose bytes are not those that were written. */
export class BackupDamagedError extends KeywrightError {
  /** The name of the object in the sink. */
  readonly object: string;
  /** What is wrong and what is lost, as a clause. */
  readonly reason: string;

  constructor(object: string, reason: string, cause?: unknown) {
    const remedy = "Restore an earlier moment, or what can be read with partial: true.";
    super("KW_BACKUP_DAMAGED", `The backup is damaged: ${object}: ${reason}. ${remedy}`, { cause });
    this.object = object;
    this.reason = reason;
  }
}

/** A backup of a later version of Keywright, or a file that is no part of a backup. */
export class BackupFormatError extends KeywrightError {
  /** The name of the object in the sink. */
  readonly object: string;

  constructor(object: string, reason: string) {
    super("KW_BACKUP_FORMAT", `The backup cannot be read: ${object} ${reason}.`);
    this.object = object;
  }
}

/** An encrypted backup that is read without its key, or with another one. */
export class BackupKeyError extends KeywrightError {
  /** The name of the object in the sink. */
  readonly object: string;

  constructor(object: string, isGiven: boolean) {
    const reason = isGiven ? "encrypted with another key" : "encrypted, and no key was given";
    super("KW_BACKUP_KEY", `The backup is ${reason} (${object}). Give the key that it has.`);
    this.object = object;
  }
}

/** An incremental backup that cannot continue the backup of its sink. A full one is needed. */
export class BackupFullNeededError extends KeywrightError {
  /** Why it cannot be continued, as a clause. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    const remedy = "Make a full backup, or give fullIfNeeded: true.";
    const message = `The backup cannot be continued: ${reason}. ${remedy}`;
    super("KW_BACKUP_FULL_NEEDED", message, { cause });
    this.reason = reason;
  }
}

/** A backup that does not have the state that was asked for. */
export class BackupMomentError extends KeywrightError {
  /** What the backup has, as a clause. */
  readonly reason: string;

  constructor(reason: string) {
    super("KW_BACKUP_MOMENT", `The backup does not have this state: ${reason}.`);
    this.reason = reason;
  }
}

/** A database that cannot be backed up, or into which nothing can be restored. */
export class BackupDatabaseError extends KeywrightError {
  /** Why it cannot, and what to do, as a clause. */
  readonly reason: string;

  constructor(call: "backup" | "restore", reason: string) {
    super("KW_BACKUP_DATABASE", `${call}: the database cannot be used: ${reason}.`);
    this.reason = reason;
  }
}
