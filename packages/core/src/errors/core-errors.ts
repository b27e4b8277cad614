import { coreErrorMessages } from "./codes.js";
import { KeywrightError, KeywrightTypeError } from "./keywright-error.js";

/** The package was imported in a version of Node.js, Deno or Bun that it cannot run on. */
export class UnsupportedRuntimeError extends KeywrightError {
  /** The version of Node.js that the runtime is, or says that it is compatible with, such as `v18.20.8`. */
  readonly version: string;

  constructor(version: string) {
    const message = `${coreErrorMessages.KW_RUNTIME_UNSUPPORTED} This is Node.js ${version}.`;
    super("KW_RUNTIME_UNSUPPORTED", message);
    this.version = version;
  }
}

/** A key that cannot be encoded. `partIndex` is absent where the key as a whole is wrong. */
export class InvalidKeyError extends KeywrightTypeError {
  /** What is wrong, in a few words. */
  readonly reason: string;
  /** The index of the part in the key, from 0; undefined where the key as a whole is wrong. */
  readonly partIndex: number | undefined;

  constructor(reason: string, partIndex?: number) {
    super("KW_KEY_INVALID", coreErrorMessages.KW_KEY_INVALID);
    this.reason = reason;
    this.partIndex = partIndex;
  }
}

/** Bytes that no key encodes to. `offset` is where decoding stopped, in bytes. */
export class MalformedKeyError extends KeywrightError {
  /** What is wrong with the bytes, in a few words. */
  readonly reason: string;
  /** Where decoding stopped, in bytes from the beginning of the encoded key. */
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super("KW_KEY_MALFORMED", coreErrorMessages.KW_KEY_MALFORMED);
    this.reason = reason;
    this.offset = offset;
  }
}

/** A value that cannot be stored. `path` leads from the value to the culprit, as in `value.tags[3]`. */
export class UnsupportedValueError extends KeywrightTypeError {
  /** The way from the value to the culprit, written as code: `value.tags[3]`. */
  readonly path: string;
  /** What cannot be stored there, in a few words. */
  readonly reason: string;

  constructor(path: string, reason: string) {
    super("KW_VALUE_UNSUPPORTED", coreErrorMessages.KW_VALUE_UNSUPPORTED);
    this.path = path;
    this.reason = reason;
  }
}

/** Bytes that no value encodes to. */
export class MalformedValueError extends KeywrightError {
  /** What is wrong with the bytes, in a few words. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super("KW_VALUE_MALFORMED", coreErrorMessages.KW_VALUE_MALFORMED, {
      cause,
    });
    this.reason = reason;
  }
}

/** A stored value with a regular expression whose syntax the runtime does not know. `cause` is its `SyntaxError`. */
export class UnreadableValueError extends KeywrightError {
  constructor(cause: unknown) {
    super("KW_VALUE_UNREADABLE", coreErrorMessages.KW_VALUE_UNREADABLE, { cause });
  }
}

/** A versionstamp that is not 20 lower-case hexadecimal digits. */
export class InvalidVersionstampError extends KeywrightTypeError {
  /** What was given in place of a versionstamp, as it was given. */
  readonly versionstamp: unknown;

  constructor(versionstamp: unknown) {
    super("KW_VERSIONSTAMP_INVALID", coreErrorMessages.KW_VERSIONSTAMP_INVALID);
    this.versionstamp = versionstamp;
  }
}

/** A selector or an option of `list` that is not valid. */
export class InvalidSelectorError extends KeywrightTypeError {
  /** What the selector or the option has to be, in a few words. */
  readonly reason: string;

  constructor(reason: string) {
    super("KW_SELECTOR_INVALID", coreErrorMessages.KW_SELECTOR_INVALID);
    this.reason = reason;
  }
}

/** An option of a call that is not valid. */
export class InvalidOptionError extends KeywrightTypeError {
  /** The name of the option, as in `durability` or `limits.keyBytes`. */
  readonly option: string;
  /** What the option has to be, in a few words. */
  readonly reason: string;

  constructor(option: string, reason: string) {
    super("KW_OPTION_INVALID", coreErrorMessages.KW_OPTION_INVALID);
    this.option = option;
    this.reason = reason;
  }
}

/** More than one of the limits of a database allows: `actual` where `max` is the most. Nothing was written. */
export class LimitExceededError extends KeywrightTypeError {
  /** The name of the limit, as in `KvLimits`. */
  readonly limit: string;
  /** The most that the limit allows, in its unit: bytes, keys, entries, checks or mutations. */
  readonly max: number;
  /** What the call has, in the same unit. */
  readonly actual: number;

  constructor(limit: string, max: number, actual: number) {
    super("KW_LIMIT_EXCEEDED", coreErrorMessages.KW_LIMIT_EXCEEDED);
    this.limit = limit;
    this.max = max;
    this.actual = actual;
  }
}

/** A `sum`, `min` or `max` of a key under which a value that is no `KvU64` is stored. Nothing was written. */
export class NotU64Error extends KeywrightTypeError {
  /** The mutation that needs a `KvU64`. */
  readonly operation: "sum" | "min" | "max";
  /** The encoded key. */
  readonly key: Uint8Array;

  constructor(operation: NotU64Error["operation"], key: Uint8Array) {
    super("KW_VALUE_NOT_U64", coreErrorMessages.KW_VALUE_NOT_U64);
    this.operation = operation;
    this.key = key;
  }
}

/** An atomic operation was awaited itself, and not its `commit()`. */
export class CommitMissingError extends KeywrightTypeError {
  constructor() {
    super("KW_COMMIT_MISSING", coreErrorMessages.KW_COMMIT_MISSING);
  }
}

/** A path at which there can be no database, such as a file or a folder with other things in it. */
export class DatabasePathError extends KeywrightError {
  /** The absolute path at which there can be no database. */
  readonly path: string;
  /** What is wrong with the place, in a few words. */
  readonly reason: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super("KW_DATABASE_PATH_INVALID", coreErrorMessages.KW_DATABASE_PATH_INVALID, { cause });
    this.path = path;
    this.reason = reason;
  }
}

/** A path without a database, where none is to be made. Nothing was written there. */
export class DatabaseNotFoundError extends KeywrightError {
  /** The absolute path at which there is no database. */
  readonly path: string;

  constructor(path: string) {
    super("KW_DATABASE_NOT_FOUND", coreErrorMessages.KW_DATABASE_NOT_FOUND);
    this.path = path;
  }
}

/** The database is open in another process: one process owns an on-disk database. */
export class DatabaseLockedError extends KeywrightError {
  /** The real path of the folder of the database. */
  readonly path: string;

  constructor(path: string, cause?: unknown) {
    super("KW_DATABASE_LOCKED", coreErrorMessages.KW_DATABASE_LOCKED, {
      cause,
      retryable: true,
    });
    this.path = path;
  }
}

/** A LevelDB database that is not Keywright's, or is of a format that this version does not know. */
export class DatabaseFormatError extends KeywrightError {
  /** What was found there, in a few words. */
  readonly reason: string;

  constructor(reason: string) {
    super("KW_DATABASE_FORMAT", coreErrorMessages.KW_DATABASE_FORMAT);
    this.reason = reason;
  }
}

/** A database that was made in the other mode; `mode` is its own. */
export class DatabaseModeError extends KeywrightError {
  /** The mode that the database was made in: `"deno"` with `compat: "deno"`, `"specification"` without. */
  readonly mode: "specification" | "deno";

  constructor(mode: DatabaseModeError["mode"]) {
    super("KW_DATABASE_MODE", coreErrorMessages.KW_DATABASE_MODE);
    this.mode = mode;
  }
}

/** A write to a database that was opened for reading only. */
export class ReadOnlyError extends KeywrightError {
  constructor() {
    super("KW_DATABASE_READ_ONLY", coreErrorMessages.KW_DATABASE_READ_ONLY);
  }
}

/** A call on a database after its `close()`. */
export class DatabaseClosedError extends KeywrightError {
  constructor() {
    super("KW_DATABASE_CLOSED", coreErrorMessages.KW_DATABASE_CLOSED);
  }
}

/** Stored bytes that fail their checksum, or commits that are missing from the middle of the log. */
export class CorruptionError extends KeywrightError {
  /** The encoded key of the damaged record, where one is known. */
  readonly key: Uint8Array | undefined;
  /** What is damaged or missing, in a few words. */
  readonly reason: string;

  constructor(reason: string, key?: Uint8Array, cause?: unknown) {
    super("KW_CORRUPTION", coreErrorMessages.KW_CORRUPTION, { cause });
    this.reason = reason;
    this.key = key;
  }
}

/**
 * The storage engine failed. Where it was in a commit, whether that is on disk is unknown until the database is opened
 * again, and no commit is taken before.
 */
export class EngineFailedError extends KeywrightError {
  constructor(cause: unknown) {
    super("KW_ENGINE_FAILED", coreErrorMessages.KW_ENGINE_FAILED, { cause });
  }
}

/**
 * `copyKv` cannot go on. `key` is the key of the entry that the target refuses, whose error is the `cause`, or the key
 * under which the progress of the copy is stored. What was copied before is there.
 */
export class CopyFailedError extends KeywrightError {
  /** The key of the entry, or of the stored progress, as parts and not encoded. */
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[];
  /** Why the copy cannot go on, in a few words. */
  readonly reason: string;

  constructor(reason: string, key: CopyFailedError["key"], cause?: unknown) {
    super("KW_COPY_FAILED", coreErrorMessages.KW_COPY_FAILED, { cause });
    this.reason = reason;
    this.key = key;
  }
}
