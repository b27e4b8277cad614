import { CodegenError } from "./codegen-errors.js";

/** A text that is no key. */
export class KeyNotationError extends CodegenError {
  readonly text: string;
  /** Of the character at which reading it stopped, from 1. */
  readonly position: number;
  readonly reason: string;

  constructor(text: string, position: number, reason: string) {
    super("KW_KEY_NOTATION");
    this.text = text;
    this.position = position;
    this.reason = reason;
  }
}

/** A key under which nothing is stored. */
export class EntryMissingError extends CodegenError {
  /** In the notation of keys. */
  readonly key: string;

  constructor(key: string) {
    super("KW_ENTRY_MISSING");
    this.key = key;
  }
}

/** A file of a command line that could not be read or written. */
export class FileFailedError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super("KW_FILE_FAILED", { cause });
    this.path = path;
  }
}

/** A line that is not one of an export. What stands above it has been imported, but for a dry run. */
export class ImportLineError extends CodegenError {
  /** From 1. */
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string, cause?: unknown) {
    super("KW_IMPORT_LINE", { cause });
    this.line = line;
    this.reason = reason;
  }
}

/** An export that was cut off, or that lacks lines. What it has was imported. */
export class ImportIncompleteError extends CodegenError {
  /** How many it has. */
  readonly entries: number;
  /** How many it has by its last line; undefined without one. */
  readonly announced: number | undefined;

  constructor(entries: number, announced: number | undefined) {
    super("KW_IMPORT_INCOMPLETE");
    this.entries = entries;
    this.announced = announced;
  }
}

/** An entry that the database does not take. What stands above it has been imported, but for a dry run. */
export class ImportRefusedError extends CodegenError {
  /** Of the file, from 1. */
  readonly line: number;
  /** In the notation of keys. */
  readonly key: string;

  constructor(line: number, key: string, cause: unknown) {
    super("KW_IMPORT_REFUSED", { cause });
    this.line = line;
    this.key = key;
  }
}
