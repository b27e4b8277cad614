import { type ErrorClass, errorClass } from "./codegen-error.js";

/**
 * A text that is not a key in the notation of `formatKey`. `position` is the character at which
 * parsing stopped, from 1.
 */
export const KeyNotationError: ErrorClass<{ text: string; position: number; reason: string }> =
  errorClass("KW_KEY_NOTATION", ({ text, position, reason }) => ({
    text: `${text}: this is not a key, at character ${position}: ${reason}`,
    remedy: `write a JSON array, in quotes for the shell, such as '["users", 1n, b64:AQID]'`,
  }));
export type KeyNotationError = InstanceType<typeof KeyNotationError>;

/** A key without an entry in the database. `key` is in the notation of `formatKey`. */
export const EntryMissingError: ErrorClass<{ key: string }> = errorClass(
  "KW_ENTRY_MISSING",
  ({ key }) => ({
    text: `${key}: the database has no entry under this key`,
    remedy:
      'look for it with `npx keywright inspect ls`. The number 1, the bigint 1n and the string "1" are different key parts',
  }),
);
export type EntryMissingError = InstanceType<typeof EntryMissingError>;

/** A file, standard input or standard output that could not be read or written. */
export const FileFailedError: ErrorClass<{ path: string }> = errorClass(
  "KW_FILE_FAILED",
  ({ path }) => ({
    text: `${path}: it cannot be read or written`,
    remedy: "correct the path or the permissions as the cause says",
  }),
);
export type FileFailedError = InstanceType<typeof FileFailedError>;

const importAgain = "Entries that are already in the database are left as they are";

/**
 * A line that is not a line of an export. `line` is its number in the file, from 1. The entries
 * above it were imported, except in a dry run.
 */
export const ImportLineError: ErrorClass<{ line: number; reason: string }> = errorClass(
  "KW_IMPORT_LINE",
  ({ line, reason }) => ({
    text: `line ${line}: this is not a line of an export: ${reason}`,
    remedy: `import a file that \`keywright inspect export\` wrote, or correct the line and import it again. ${importAgain}`,
  }),
);
export type ImportLineError = InstanceType<typeof ImportLineError>;

/**
 * An export without its last line, or with a different number of entries than that line says.
 * `entries` were read, and `announced` is the number in the last line, undefined if there is none.
 * The entries that the export contains were imported, except in a dry run.
 */
export const ImportIncompleteError: ErrorClass<{ entries: number; announced: number | undefined }> =
  errorClass("KW_IMPORT_INCOMPLETE", ({ entries, announced }) => ({
    text: `the export is not complete (${
      announced === undefined
        ? `the last line is missing, entries read: ${entries}`
        : `entries read: ${entries}, expected: ${announced}`
    })`,
    remedy: `get the whole file and import it. ${importAgain}`,
  }));
export type ImportIncompleteError = InstanceType<typeof ImportIncompleteError>;

/**
 * An entry that the database does not accept. `line` is its number in the file, from 1, and `key`
 * is in the notation of `formatKey`. The entries above it were imported, except in a dry run.
 */
export const ImportRefusedError: ErrorClass<{ line: number; key: string }> = errorClass(
  "KW_IMPORT_REFUSED",
  ({ line, key }) => ({
    text: `line ${line}: the database does not accept the entry ${key}`,
    remedy: `correct or remove the line as the cause says, and import the file again. ${importAgain}`,
  }),
);
export type ImportRefusedError = InstanceType<typeof ImportRefusedError>;
