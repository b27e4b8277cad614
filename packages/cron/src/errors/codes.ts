/** Every error code of this package. A code never changes its meaning. */
export const cronErrorCodes = [
  "KW_CRON_SCHEDULE_INVALID",
  "KW_CRON_COMMIT_REFUSED",
  "KW_CRON_COMPLETION_FAILED",
  "KW_CRON_RUN_LOST",
  "KW_CRON_INTERRUPTED",
] as const;

/** A code of {@link cronErrorCodes}. */
export type CronErrorCode = (typeof cronErrorCodes)[number];
