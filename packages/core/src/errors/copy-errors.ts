import { KeywrightError } from "./keywright-error.js";
import { causeSentence, sentence } from "./message-parts.js";

/**
 * Programs wrote to a database without views, such as Deno KV, while `copyKv` or `listSnapshot`
 * read it. What was read is not one state of the database.
 */
export class DatabaseChangedError extends KeywrightError {
  /** The call that read the database. */
  readonly operation: "copy" | "list";

  constructor(operation: DatabaseChangedError["operation"]) {
    const read = operation === "copy" ? "copied. The copy" : "listed. The list";
    const message = `The database changed while it was ${read} is not complete: programs wrote to it or entries expired, and the database has no views of one state. Stop the programs that write to it, then call again.`;
    super("KW_DATABASE_CHANGED", message, { retryable: true });
    this.operation = operation;
  }
}

/** `copyKv` cannot continue. What was copied before stays in the target. */
export class CopyFailedError extends KeywrightError {
  /** The key of the entry that the target refuses, or of the stored progress, as parts. */
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[];
  /** Why the copy cannot continue, and what to do. */
  readonly reason: string;

  /** @param cause the error of the target if it refuses an entry. */
  constructor(reason: string, key: CopyFailedError["key"], cause?: unknown) {
    const message = `copyKv cannot continue: ${sentence(reason)} What was copied so far stays in the target.${causeSentence(cause)}`;
    super("KW_COPY_FAILED", message, { cause });
    this.reason = reason;
    this.key = key;
  }
}

/** The source of `copyKv` has an entry whose value this runtime cannot decode. */
export class CopyUnreadableError extends KeywrightError {
  /**
   * The key of an entry before it in key order, as parts. Undefined if it is among the first ones.
   */
  readonly after: readonly (Uint8Array | string | number | bigint | boolean)[] | undefined;

  /** @param cause the error of the source. */
  constructor(after: CopyUnreadableError["after"], cause: unknown) {
    const message = `copyKv cannot read an entry of the source: this runtime cannot decode its value, because a newer runtime has written it. Run the copy in that runtime, for example in Deno.${causeSentence(cause)}`;
    super("KW_COPY_UNREADABLE", message, { cause });
    this.after = after;
  }
}

/** A database into which a backup is being restored, or was until the restore was interrupted. */
export class RestoreUnfinishedError extends KeywrightError {
  /** The folder or file of the database, if it has one. */
  readonly path: string | undefined;

  constructor(path?: string) {
    const where = path === undefined ? "the database" : path;
    const message = `A restore into ${where} has not finished. If it is not running any longer, restore again: it begins from the start.`;
    super("KW_RESTORE_UNFINISHED", message);
    this.path = path;
  }
}

/** A database that was moved to another place. It refuses commits and reads. */
export class DatabaseMovedError extends KeywrightError {
  /** The name of the new place, without passwords. */
  readonly to: string;
  /** The folder or file of the database, if it has one. */
  readonly path: string | undefined;

  constructor(to: string, path?: string) {
    const what = path === undefined ? "The database" : `The database ${path}`;
    const message = `${what} was moved to ${to}. Open it there. To read what is still here, open it with allowMoved: true. To use it again, call undoMove: what was written to the new place since is then missing here.`;
    super("KW_DATABASE_MOVED", message);
    this.to = to;
    this.path = path;
  }
}

/** A commit during the short time in which a database that is moved refuses commits. */
export class DatabaseMovingError extends KeywrightError {
  /** The name of the new place, without passwords. */
  readonly to: string;
  /** The folder or file of the database, if it has one. */
  readonly path: string | undefined;

  constructor(to: string, path?: string) {
    const what = path === undefined ? "The database" : `The database ${path}`;
    const message = `${what} is being moved to ${to}, and accepts no commits for a moment. The commit was not applied. Repeat it: if the database was moved by then, it fails with KW_DATABASE_MOVED.`;
    super("KW_DATABASE_MOVING", message, { retryable: true });
    this.to = to;
    this.path = path;
  }
}

/** `moveKv` cannot move the database. The source stays in charge. */
export class MoveFailedError extends KeywrightError {
  /** Why it cannot, as a clause. */
  readonly reason: string;
  /** The key of the entry that differs in the target, as parts. */
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[] | undefined;

  constructor(reason: string, { key }: Partial<Pick<MoveFailedError, "key">> = {}) {
    super("KW_MOVE_FAILED", `The database was not moved: ${sentence(reason)}`);
    this.reason = reason;
    this.key = key;
  }
}

/** A database into which another one is being moved, or whose move was interrupted. */
export class MoveUnfinishedError extends KeywrightError {
  /** The folder or file of the database, if it has one. */
  readonly path: string | undefined;

  constructor(path?: string) {
    const where = path === undefined ? "the database" : path;
    const message = `A move into ${where} has not finished. If it is not running any longer, move again with the same source and target: it continues.`;
    super("KW_MOVE_UNFINISHED", message);
    this.path = path;
  }
}
