import { CodegenError } from "./codegen-errors.js";

/** A text that is not a key in the notation of `formatKey`. */
export class KeyNotationError extends CodegenError {
  readonly text: string;
  /** The character at which parsing stopped, from 1. */
  readonly position: number;
  readonly reason: string;

  constructor(text: string, position: number, reason: string) {
    super(
      "KW_KEY_NOTATION",
      `${text}: this is not a key, at character ${position}: ${reason}; write a JSON array, in quotes for the shell, such as '["users", 1n, b64:AQID]'`,
    );
    this.text = text;
    this.position = position;
    this.reason = reason;
  }
}

/** A key without an entry in the database. */
export class EntryMissingError extends CodegenError {
  /** In the notation of `formatKey`. */
  readonly key: string;

  constructor(key: string) {
    super(
      "KW_ENTRY_MISSING",
      `${key}: the database has no entry under this key; look for it with \`npx keywright inspect ls\`. The number 1, the bigint 1n and the string "1" are different key parts`,
    );
    this.key = key;
  }
}

/** A file, standard input or standard output that could not be read or written. */
export class FileFailedError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(
      "KW_FILE_FAILED",
      `${path}: it cannot be read or written; correct the path or the permissions as the cause says`,
      { cause },
    );
    this.path = path;
  }
}

const importAgain = "Entries that are already in the database are left as they are";

/**
 * A line that is not a line of an export. The entries above it were imported, except in a dry run.
 */
export class ImportLineError extends CodegenError {
  /** The line in the file, from 1. */
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string, cause?: unknown) {
    super(
      "KW_IMPORT_LINE",
      `line ${line}: this is not a line of an export: ${reason}; import a file that \`keywright inspect export\` wrote, or correct the line and import it again. ${importAgain}`,
      { cause },
    );
    this.line = line;
    this.reason = reason;
  }
}

/**
 * An export without its last line, or with a different number of entries than that line says. The
 * entries that it contains were imported, except in a dry run.
 */
export class ImportIncompleteError extends CodegenError {
  /** The number of entries that were read. */
  readonly entries: number;
  /** The number of entries according to the last line. Undefined if there is no last line. */
  readonly announced: number | undefined;

  constructor(entries: number, announced: number | undefined) {
    const found =
      announced === undefined
        ? `the last line is missing, entries read: ${entries}`
        : `entries read: ${entries}, expected: ${announced}`;
    super(
      "KW_IMPORT_INCOMPLETE",
      `the export is not complete (${found}); get the whole file and import it. ${importAgain}`,
    );
    this.entries = entries;
    this.announced = announced;
  }
}

/**
 * An entry that the database does not accept. The entries above it were imported, except in a dry
 * run.
 */
export class ImportRefusedError extends CodegenError {
  /** The line in the file, from 1. */
  readonly line: number;
  /** In the notation of `formatKey`. */
  readonly key: string;

  constructor(line: number, key: string, cause: unknown) {
    super(
      "KW_IMPORT_REFUSED",
      `line ${line}: the database does not accept the entry ${key}; correct or remove the line as the cause says, and import the file again. ${importAgain}`,
      { cause },
    );
    this.line = line;
    this.key = key;
  }
}
