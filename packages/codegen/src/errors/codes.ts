/**
 * Every error code of this package. A code never changes its meaning. `docs/errors.md` has a
 * heading for each code.
 */
export const codegenErrorCodes = [
  "KW_CONFIG_MISSING",
  "KW_CONFIG_INVALID",
  "KW_MODULE_MISSING",
  "KW_MODULE_FAILED",
  "KW_TSCONFIG_INVALID",
  "KW_MODELS_UNMATCHED",
  "KW_MODULE_WITHOUT_MODEL",
  "KW_MODEL_DUPLICATE",
  "KW_NAME_COLLISION",
  "KW_NAME_UNUSABLE",
  "KW_RELATION_INVALID",
  "KW_TYPE_INEXPRESSIBLE",
  "KW_OUTPUT_OCCUPIED",
  "KW_OUTPUT_FAILED",
  "KW_LOCK_FILE",
  "KW_PROJECT_CONFIGURED",
  "KW_PROJECT_FILE",
  "KW_DATABASE_UNSET",
  "KW_DATABASE_OPEN",
  "KW_ADOPT_UNSET",
  "KW_COPY_UNSET",
  "KW_DENO_KV_MISSING",
  "KW_ENGINE_MISSING",
  "KW_PROJECT_CODE",
  "KW_COMMAND_UNFINISHED",
  "KW_USAGE",
  "KW_INTERNAL",
  "KW_PERMISSION_MISSING",
  "KW_TOPIC_UNKNOWN",
  "KW_KEY_NOTATION",
  "KW_ENTRY_MISSING",
  "KW_FILE_FAILED",
  "KW_IMPORT_LINE",
  "KW_IMPORT_INCOMPLETE",
  "KW_IMPORT_REFUSED",
  "KW_SEED_PACKAGES",
  "KW_SEED_NOT_EMPTY",
  "KW_SEED_FIELD",
  "KW_SEED_REFERENCE",
  "KW_SEED_UNIQUE",
] as const;

/** A code of {@link codegenErrorCodes}. */
export type CodegenErrorCode = (typeof codegenErrorCodes)[number];
