/** Every error code of core. A code never changes its meaning. `docs/errors.md` describes each. */
export const coreErrorCodes = [
  "KW_RUNTIME_UNSUPPORTED",
  "KW_KEY_INVALID",
  "KW_KEY_MALFORMED",
  "KW_VALUE_UNSUPPORTED",
  "KW_VALUE_MALFORMED",
  "KW_VALUE_UNREADABLE",
  "KW_VALUE_NOT_U64",
  "KW_OPTION_INVALID",
  "KW_LIMIT_EXCEEDED",
  "KW_COMMIT_MISSING",
  "KW_VERSIONSTAMP_INVALID",
  "KW_SELECTOR_INVALID",
  "KW_DATABASE_PATH_INVALID",
  "KW_DATABASE_NOT_FOUND",
  "KW_DATABASE_LOCKED",
  "KW_DATABASE_FORMAT",
  "KW_DATABASE_MODE",
  "KW_DATABASE_READ_ONLY",
  "KW_DATABASE_CLOSED",
  "KW_CORRUPTION",
  "KW_ENGINE_FAILED",
  "KW_ENGINE_UNAVAILABLE",
  "KW_COMMIT_AMBIGUOUS",
  "KW_READ_VIEW_ENDED",
  "KW_DATABASE_CHANGED",
  "KW_COPY_FAILED",
  "KW_COPY_UNREADABLE",
] as const;

/** A code of {@link coreErrorCodes}. */
export type CoreErrorCode = (typeof coreErrorCodes)[number];
