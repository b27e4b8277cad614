export { cronOf, type DenoCron, type DenoCronHandler, type DenoCronOptions } from "./cron-of.js";
export type { CronRun } from "./definition/cron-run.js";
export {
  type CronDefinition,
  type CronHandler,
  type CronOptions,
  defineCron,
  type MissedTicks,
} from "./definition/define-cron.js";
export { type CronErrorCode, cronErrorCodes } from "./errors/codes.js";
export {
  CronCommitRefusedError,
  CronCompletionError,
  CronInterruptedError,
  CronRunLostError,
  CronScheduleError,
} from "./errors/cron-errors.js";
export {
  type CronLastStatus,
  type CronRunStatus,
  type CronStatus,
  listCrons,
  removeCron,
} from "./list-crons.js";
export type { CronFailure } from "./run/run-handler.js";
export { type RunCronsOptions, runCrons } from "./run-crons.js";
export type { ScheduleSyntax } from "./schedule/schedule.js";
export type { CronSchedule, CronScheduleExpression } from "./schedule/schedule-objects.js";
