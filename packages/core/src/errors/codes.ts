/**
 * Every error code of this package with its static text. A code never changes its meaning; what varies from one
 * error to the next stands in the error's fields. Each code has a heading in `docs/errors.md`.
 */
export const coreErrorMessages = {
  KW_KEY_INVALID:
    "A key is a non-empty array of parts, each a Uint8Array, string, number, bigint or boolean.",
  KW_KEY_MALFORMED: "These bytes are not an encoded key.",
  KW_VALUE_UNSUPPORTED: "The structured clone algorithm cannot store this value.",
  KW_VALUE_MALFORMED: "These bytes are not an encoded value.",
  KW_VERSIONSTAMP_INVALID: "A versionstamp is a string of 20 lower-case hexadecimal digits.",
  KW_SELECTOR_INVALID: "This list selector or one of its options is not valid.",
  KW_DATABASE_PATH_INVALID: "No database can be opened at this path.",
  KW_DATABASE_LOCKED: "Another process has this database open.",
  KW_DATABASE_FORMAT:
    "This database was not written by a version of Keywright that this one can read.",
  KW_DATABASE_CLOSED: "The database is closed.",
  KW_CORRUPTION: "Stored bytes do not match their checksum, or commits are missing.",
  KW_ENGINE_FAILED: "The storage engine failed; close the database and open it again.",
} as const;

/** A code of {@link coreErrorMessages}. */
export type CoreErrorCode = keyof typeof coreErrorMessages;
