export { type PostgresErrorCode, postgresErrorCodes } from "./errors/codes.js";
export { PostgresOptionError, PostgresRefusedError } from "./errors/postgres-errors.js";
export { postgresEngine } from "./postgres-engine.js";
export type { PostgresOptions } from "./settings/engine-settings.js";
