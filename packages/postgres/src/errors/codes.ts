/** Every error code of the PostgreSQL engine. A code never changes its meaning. */
export const postgresErrorCodes = ["KW_POSTGRES_OPTION_INVALID", "KW_POSTGRES_REFUSED"] as const;

/** A code of {@link postgresErrorCodes}. */
export type PostgresErrorCode = (typeof postgresErrorCodes)[number];
