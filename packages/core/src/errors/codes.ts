/**
 * Every error code of this package with its static text. A code never changes its meaning; what varies from one
 * error to the next stands in the error's fields. Each code has a heading in `docs/errors.md`.
 */
export const coreErrorMessages = {
  KW_RUNTIME_UNSUPPORTED: "Keywright needs Node.js 20.15 or later, Deno 2.9 or Bun 1.4.",
  KW_KEY_INVALID:
    "A key is a non-empty array of parts, each a Uint8Array, string, number, bigint or boolean.",
  KW_KEY_MALFORMED: "These bytes are not an encoded key.",
  KW_VALUE_UNSUPPORTED: "The structured clone algorithm cannot store this value.",
  KW_VALUE_UNREADABLE:
    "The value has a regular expression that this version of Node.js, Deno or Bun does not know. Read it with the version that wrote it, or with a newer one.",
  KW_VALUE_MALFORMED: "These bytes are not an encoded value.",
  KW_VERSIONSTAMP_INVALID: "A versionstamp is a string of 20 lower-case hexadecimal digits.",
  KW_VALUE_NOT_U64: "sum, min and max work on a KvU64, and another value is stored.",
  KW_OPTION_INVALID: "An option is not valid.",
  KW_LIMIT_EXCEEDED: "This is more than the database takes at once.",
  KW_COMMIT_MISSING: "An atomic operation does nothing before its commit() is called.",
  KW_SELECTOR_INVALID: "This list selector or one of its options is not valid.",
  KW_DATABASE_PATH_INVALID: "No database can be opened at this path.",
  KW_DATABASE_NOT_FOUND: "There is no database yet at this path.",
  KW_DATABASE_LOCKED: "Another process has this database open.",
  KW_DATABASE_FORMAT:
    "This database was not written by a version of Keywright that this one can read.",
  KW_DATABASE_MODE: "The keys of this database are in the order of another mode.",
  KW_DATABASE_READ_ONLY: "The database is open for reading only.",
  KW_DATABASE_CLOSED: "The database is closed.",
  KW_CORRUPTION: "Stored bytes do not match their checksum, or commits are missing.",
  KW_ENGINE_FAILED: "The storage engine failed; close the database and open it again.",
  KW_COPY_FAILED: "The copy of a database cannot go on at this key.",
} as const;

/** A code of {@link coreErrorMessages}. */
export type CoreErrorCode = keyof typeof coreErrorMessages;
