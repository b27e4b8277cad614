import { KeywrightError, KeywrightTypeError } from "./keywright-error.js";
import {
  causeSentence,
  databaseOf,
  limitMessage,
  sentence,
  versionstampReason,
} from "./message-parts.js";

/** The package was imported in a version of Node.js, Deno or Bun that it cannot run on. */
export class UnsupportedRuntimeError extends KeywrightError {
  /** The version of Node.js that the runtime reports, such as `v18.20.8`. */
  readonly version: string;

  constructor(version: string) {
    const message = `Keywright needs Node.js 20.15, Deno 2.9 or Bun 1.4, or a later version. This runtime reports Node.js ${version}. Update it.`;
    super("KW_RUNTIME_UNSUPPORTED", message);
    this.version = version;
  }
}

/** A key that cannot be encoded. */
export class InvalidKeyError extends KeywrightTypeError {
  /** The problem as a clause: `part 1 is a symbol`. */
  readonly reason: string;
  /** The index of the part in the key, from 0. Undefined if the key as a whole is wrong. */
  readonly partIndex: number | undefined;

  constructor(reason: string, partIndex?: number) {
    const kinds = "a Uint8Array, string, number, bigint or boolean";
    const remedy =
      partIndex === undefined
        ? `A key is an array of at least one part. Each part is ${kinds}.`
        : `A key part is ${kinds}.`;
    super("KW_KEY_INVALID", `The key is not valid: ${sentence(reason)} ${remedy}`);
    this.reason = reason;
    this.partIndex = partIndex;
  }
}

/** Bytes that are not an encoded key. */
export class MalformedKeyError extends KeywrightError {
  /** The problem as a clause: `a part has no end`. */
  readonly reason: string;
  /** Where decoding stopped, in bytes from the beginning of the encoded key. */
  readonly offset: number;

  constructor(reason: string, offset: number) {
    const message = `The encoded key is malformed at byte ${offset}: ${sentence(reason)} Pass bytes that encodeKey returned, and the key order that they were encoded in.`;
    super("KW_KEY_MALFORMED", message);
    this.reason = reason;
    this.offset = offset;
  }
}

/** A value that cannot be stored. */
export class UnsupportedValueError extends KeywrightTypeError {
  /** The path from the value to the part that cannot be stored, as code: `value.tags[3]`. */
  readonly path: string;
  /** Why that part cannot be stored, as a clause: `it is a function`. */
  readonly reason: string;

  /** @param shownPath the path for the message, which may not contain keys of a `Map`. */
  constructor(path: string, reason: string, shownPath: string = path) {
    const message = `${shownPath} cannot be stored: ${sentence(reason)} Leave it out, or convert it to plain data.`;
    super("KW_VALUE_UNSUPPORTED", message);
    this.path = path;
    this.reason = reason;
  }
}

/** Bytes that are not an encoded value. */
export class MalformedValueError extends KeywrightError {
  /** The problem as a clause. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    const message = `The encoded value is malformed: ${sentence(reason)} Pass bytes that encodeValue returned.`;
    super("KW_VALUE_MALFORMED", message, { cause });
    this.reason = reason;
  }
}

/**
 * A stored value with a regular expression whose syntax the runtime does not support. `cause` is
 * the `SyntaxError`.
 */
export class UnreadableValueError extends KeywrightError {
  constructor(cause: unknown) {
    const message =
      "A stored value has a regular expression that this version of Node.js, Deno or Bun does not support. Read the value with the version that wrote it, or with a newer one.";
    super("KW_VALUE_UNREADABLE", message, { cause });
  }
}

/**
 * A versionstamp that is not 20 lower-case hexadecimal digits, or that is later than the last
 * commit.
 */
export class InvalidVersionstampError extends KeywrightTypeError {
  /** The value that was passed as a versionstamp. */
  readonly versionstamp: unknown;

  constructor(versionstamp: unknown, reason: string = versionstampReason(versionstamp)) {
    const message = `check: the versionstamp is not valid: ${reason}. Pass the versionstamp of a read or a commit (20 lower-case hexadecimal digits), or null for an absent entry.`;
    super("KW_VERSIONSTAMP_INVALID", message);
    this.versionstamp = versionstamp;
  }
}

/** `checkRange` of a database whose engine cannot check ranges. */
export class RangeChecksUnsupportedError extends KeywrightError {
  constructor() {
    const remedy =
      "kv.checksRanges is true for databases that can: in memory, LevelDB folders, LMDB files, PostgreSQL and etcd.";
    super("KW_RANGE_CHECKS_UNSUPPORTED", `This database cannot check ranges. ${remedy}`);
  }
}

/** A selector or an option of `list` that is not valid. */
export class InvalidSelectorError extends KeywrightTypeError {
  /** The rule that is broken, as a clause: `its start must extend its prefix`. */
  readonly reason: string;

  constructor(reason: string) {
    const message = `The list selector or one of its options is not valid: ${sentence(reason)}`;
    super("KW_SELECTOR_INVALID", message);
    this.reason = reason;
  }
}

/** An option or an argument of a call that is not valid. */
export class InvalidOptionError extends KeywrightTypeError {
  /** The name of the option, such as `durability` or `limits.keyBytes`. */
  readonly option: string;
  /** The rule that the option breaks. Its name and `reason` make a sentence. */
  readonly reason: string;
  /** The call that has the option, such as `openKv` or `enqueue`, if it is known. */
  readonly operation: string | undefined;

  constructor(option: string, reason: string, operation?: string) {
    const call = operation === undefined ? "" : `${operation}: `;
    super("KW_OPTION_INVALID", `${call}${option} ${sentence(reason)}`);
    this.option = option;
    this.reason = reason;
    this.operation = operation;
  }
}

/** A call that exceeds one of the limits of a database. Nothing was written. */
export class LimitExceededError extends KeywrightTypeError {
  /** The name of the limit, as in `KvLimits`. */
  readonly limit: string;
  /** The maximum, in the unit of the limit: bytes, keys, entries, checks or mutations. */
  readonly max: number;
  /** The size of the call in the same unit. NaN if it is not known. */
  readonly actual: number;

  constructor(limit: string, max: number, actual: number) {
    super("KW_LIMIT_EXCEEDED", limitMessage(limit, max, actual));
    this.limit = limit;
    this.max = max;
    this.actual = actual;
  }
}

/** A `sum`, `min` or `max` of something other than a `KvU64`. Nothing was written. */
export class NotU64Error extends KeywrightTypeError {
  /** The mutation that needs a `KvU64`. */
  readonly operation: "sum" | "min" | "max";
  /** The encoded key. */
  readonly key: Uint8Array;

  /** @param culprit the value that is not a `KvU64`. */
  constructor(
    operation: NotU64Error["operation"],
    key: Uint8Array,
    culprit: "stored value" | "operand" = "stored value",
  ) {
    const message =
      culprit === "operand"
        ? `${operation}: the operand is not a KvU64. Pass a KvU64.`
        : `${operation}: the value stored under the key is not a KvU64. Store a KvU64 there first, or use another key.`;
    super("KW_VALUE_NOT_U64", message);
    this.operation = operation;
    this.key = key;
  }
}

/** An atomic operation itself was awaited instead of its `commit()`. */
export class CommitMissingError extends KeywrightTypeError {
  constructor() {
    const message =
      "An atomic operation was awaited without commit(), and nothing was written. Await its commit() instead.";
    super("KW_COMMIT_MISSING", message);
  }
}

/** A path at which there cannot be a database, such as that of a file. */
export class DatabasePathError extends KeywrightError {
  /** The absolute path. */
  readonly path: string;
  /** The obstacle at this path, as a clause. */
  readonly reason: string;

  constructor(path: string, reason: string, cause?: unknown) {
    const message = `The database at ${path} cannot be opened: ${sentence(reason)} Use another path, or correct the folder and its permissions.`;
    super("KW_DATABASE_PATH_INVALID", message, { cause });
    this.path = path;
    this.reason = reason;
  }
}

/** A place without a database that was opened with the instruction not to create one. */
export class DatabaseNotFoundError extends KeywrightError {
  /** The absolute path at which there is no database. Undefined for an engine on a server. */
  readonly path: string | undefined;
  /** The part of the database that does not exist, as a noun: `table app in PostgreSQL`. */
  readonly missing: string;

  constructor(path?: string, missing = `database at ${path ?? "the place of the engine"}`) {
    const correction = path === undefined ? "options of the engine" : "path";
    const message = `There is no ${missing}, and none was created. Correct the ${correction}, or create the database first: openKv does, unless readOnly is true or createIfMissing is false.`;
    super("KW_DATABASE_NOT_FOUND", message);
    this.path = path;
    this.missing = missing;
  }
}

/** The database is open in another process, and this one cannot attach to it. */
export class DatabaseLockedError extends KeywrightError {
  /** The real path of the folder of the database. */
  readonly path: string;

  constructor(path: string, cause?: unknown) {
    const message = `The database at ${path} is open in another process or thread. Close it there, or open it in both without attach: false, so that this one can attach.`;
    super("KW_DATABASE_LOCKED", message, { cause, retryable: true });
    this.path = path;
  }
}

/** A LevelDB database that Keywright did not write, or whose format this version does not know. */
export class DatabaseFormatError extends KeywrightError {
  /** The content of the folder, as a clause: `it holds data and has no Keywright header`. */
  readonly reason: string;
  /** The real path of the folder of the database, if it was found while the database was opened. */
  readonly path: string | undefined;

  constructor(reason: string, path?: string) {
    const checked = path === undefined ? "that it is the right database" : "the path";
    const message = `${databaseOf(undefined, path)} cannot be read: ${sentence(reason)} Check ${checked}, and update Keywright if a later version wrote the database.`;
    super("KW_DATABASE_FORMAT", message);
    this.reason = reason;
    this.path = path;
  }
}

/** A database that was created in the other mode. */
export class DatabaseModeError extends KeywrightError {
  /** The mode of the database: `"deno"` with `compat: "deno"`, `"specification"` without. */
  readonly mode: "specification" | "deno";
  /** The real path of the folder of the database, if it has one. */
  readonly path: string | undefined;

  constructor(mode: DatabaseModeError["mode"], path?: string) {
    const preposition = mode === "deno" ? "with" : "without";
    const message = `${databaseOf(undefined, path)} was created ${preposition} compat: "deno". Open it ${preposition} that option, or copy it into a new database with copyKv.`;
    super("KW_DATABASE_MODE", message);
    this.mode = mode;
    this.path = path;
  }
}

/** A call that a handle of a database refuses. */
class RefusedCallError extends KeywrightError {
  /** The call, such as `get`, if it is known. */
  readonly operation: string | undefined;
  /** The real path of the folder of the database, if it has one. */
  readonly path: string | undefined;

  constructor(code: string, reason: string, operation?: string, path?: string) {
    super(code, `${databaseOf(operation, path)} ${reason}`);
    this.operation = operation;
    this.path = path;
  }
}

/** A write to a database that was opened for reading only. */
export class ReadOnlyError extends RefusedCallError {
  constructor(operation?: string, path?: string) {
    const reason = "is open for reading only. Open it without readOnly to write to it.";
    super("KW_DATABASE_READ_ONLY", reason, operation, path);
  }
}

/** A call on a database after its `close()`. */
export class DatabaseClosedError extends RefusedCallError {
  constructor(operation?: string, path?: string) {
    const reason = "is closed. Make the call before close(), or open the database again.";
    super("KW_DATABASE_CLOSED", reason, operation, path);
  }
}

/** The damaged file of a database, and the keys between which entries may be missing or wrong. */
export interface DamagedFile {
  readonly file: string | undefined;
  readonly firstKey?: Uint8Array | undefined;
  readonly lastKey?: Uint8Array | undefined;
}

/**
 * Stored bytes that fail their checksum, or files or commits that are missing. If a whole file is
 * affected, every call on the database fails with this error.
 */
export class CorruptionError extends KeywrightError {
  /** The encoded key of the damaged record, if it is known. */
  readonly key: Uint8Array | undefined;
  /** The damage as a clause: `a record does not match its checksum`. */
  readonly reason: string;
  /** The real path of the folder of the database, if a file or the opening is affected. */
  readonly path: string | undefined;
  /** The name of the damaged file in the folder of the database, if it is known. */
  readonly file: string | undefined;
  /**
   * The encoded keys between which entries of the file may be missing or wrong, both inclusive. The
   * keys may be those of the database itself. Undefined if they are not known.
   */
  readonly firstKey: Uint8Array | undefined;
  readonly lastKey: Uint8Array | undefined;

  constructor(
    reason: string,
    key?: Uint8Array,
    cause?: unknown,
    path?: string,
    damaged?: DamagedFile,
  ) {
    const message = `${databaseOf(undefined, path)} is damaged: ${sentence(reason)} Keep a copy of its files, and restore a backup, or run keywright repair.`;
    super("KW_CORRUPTION", message, { cause });
    this.reason = reason;
    this.key = key;
    this.path = path;
    this.file = damaged?.file;
    this.firstKey = damaged?.firstKey;
    this.lastKey = damaged?.lastKey;
  }
}

const engineFailures = {
  open: {
    step: "while it was opened",
    remedy: "Check that the disk has free space and works, then open the database again.",
  },
  read: {
    step: "during a read",
    remedy: "Check the disk and the permissions of the files, then read again.",
  },
  commit: {
    step: "during a commit",
    remedy:
      "It is unknown whether the commit is on disk, and no further commit is accepted. Close the database and open it again.",
  },
  request: {
    step: "because it did not understand a request",
    remedy: "Use the same version of Keywright in all programs that use the database.",
  },
  repair: {
    step: "while it was repaired",
    remedy: "Check that the disk works and has free space, then repair the database again.",
  },
};

/**
 * The storage engine failed. After a failed commit it is unknown whether the commit is on disk
 * until the database is opened again, and every further commit is refused. A failed read has no
 * effect on other calls. If opening failed, for example because the disk is full, the database is
 * as it was.
 */
export class EngineFailedError extends KeywrightError {
  /** The step that failed. */
  readonly operation: "open" | "read" | "commit" | "repair" | "request";
  /** The path of the folder of the database. Undefined if a call of an open database failed. */
  readonly path: string | undefined;

  constructor(cause: unknown, operation: EngineFailedError["operation"], path?: string) {
    const { step, remedy } = engineFailures[operation];
    const place = path === undefined ? "" : ` of the database at ${path}`;
    const message = `The storage engine${place} failed ${step}. ${remedy}${causeSentence(cause)}`;
    super("KW_ENGINE_FAILED", message, { cause });
    this.operation = operation;
    this.path = path;
  }
}

/** The server or the file of a database cannot be used at the moment. The call had no effect. */
export class EngineUnavailableError extends KeywrightError {
  /** Why it cannot be used, as a clause: `no server accepts connections`. */
  readonly reason: string;
  /** What to do, as a sentence. */
  readonly remedy: string;

  /** @param subject names what cannot be used. */
  constructor(
    reason: string,
    remedy: string,
    cause?: unknown,
    subject = "The server of the database",
  ) {
    const message = `${subject} cannot be used: ${sentence(reason)} Nothing was written. ${sentence(remedy)}${causeSentence(cause)}`;
    super("KW_ENGINE_UNAVAILABLE", message, { cause, retryable: true });
    this.reason = reason;
    this.remedy = remedy;
  }
}

/**
 * The answer to a commit was lost, and the server could not be asked in time whether it was
 * applied. The commit may have been applied, or may still be, at most once.
 */
export class AmbiguousCommitError extends KeywrightError {
  /** How long the call waited for an answer, in milliseconds. */
  readonly waited: number;
  /** What to do, as a sentence. */
  readonly remedy: string;

  /** @param server names what has not answered: `process 41250, which owns the database,`. */
  constructor(waited: number, cause?: unknown, server = "the server of the database") {
    const remedy = "Read what the commit would have changed before you repeat it.";
    const message = `It is unknown whether the commit was applied: ${server} did not answer within ${waited} ms. ${remedy}${causeSentence(cause)}`;
    super("KW_COMMIT_AMBIGUOUS", message, { cause });
    this.waited = waited;
    this.remedy = remedy;
  }
}

/**
 * A read of a view that has ended: it was closed, or the engine could not keep its state any
 * longer.
 */
export class ReadViewEndedError extends KeywrightError {
  /** Why the view has ended, as a clause: `it was closed`. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    const message = `The state of the database that is read is no longer available: ${sentence(reason)} Begin the read again.${causeSentence(cause)}`;
    super("KW_READ_VIEW_ENDED", message, { cause, retryable: true });
    this.reason = reason;
  }
}
