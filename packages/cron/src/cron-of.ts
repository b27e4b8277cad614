import { InvalidOptionError, type KvLike } from "@keywright/core";
import { completeDefinition } from "./definition/define-cron.js";
import { type RunCronsOptions, runCrons } from "./run-crons.js";
import { type CronSchedule, fieldsOfSchedule } from "./schedule/schedule-objects.js";

/** The handler of a cron as `Deno.cron` has it. */
export type DenoCronHandler = () => Promise<void> | void;

/** The options of `Deno.cron`. */
export interface DenoCronOptions {
  /** Milliseconds before each new attempt after the handler has thrown: at most 5 numbers. */
  backoffSchedule?: number[];
  /** Ends the cron. */
  signal?: AbortSignal;
}

/** A function with the signatures of `Deno.cron`. */
export interface DenoCron {
  (name: string, schedule: string | CronSchedule, handler: DenoCronHandler): Promise<void>;
  (
    name: string,
    schedule: string | CronSchedule,
    options: DenoCronOptions,
    handler: DenoCronHandler,
  ): Promise<void>;
}

/** The names of the crons that this process runs with a database. */
const namesOf = new WeakMap<object, Set<string>>();

/**
 * Returns a function with the signatures of `Deno.cron`, whose crons run once over all processes
 * with the database.
 *
 * ```ts
 * const cron = cronOf(kv);
 * cron("Log", "0 * * * *", () => console.log("an hour has passed"));
 * ```
 *
 * Schedules are in UTC, and as in Deno 1 is Sunday. Ticks that no process could run are skipped.
 *
 * @param options those of {@link runCrons}, for all crons.
 */
export function cronOf(kv: KvLike, options: Omit<RunCronsOptions, "signal"> = {}): DenoCron {
  const names = namesOf.get(kv) ?? new Set();
  namesOf.set(kv, names);
  // Not async: as in Deno, a call that is not valid throws.
  return (
    name: string,
    schedule: string | CronSchedule,
    ...rest: [DenoCronHandler] | [DenoCronOptions, DenoCronHandler]
  ): Promise<void> => {
    const [denoOptions, handler] =
      typeof rest[0] === "function" ? [{}, rest[0]] : [rest[0] ?? {}, rest[1]];
    const { backoffSchedule, signal } = denoOptions;
    const refuse = (option: string, reason: string) =>
      new InvalidOptionError(option, reason, "cron");
    if (typeof rest[0] === "function" && rest[1] !== undefined)
      throw refuse("handler", "must be the last argument");
    if (typeof schedule !== "string" && (typeof schedule !== "object" || schedule === null))
      throw refuse("schedule", "must be a text or an object");
    if (typeof handler !== "function") throw refuse("handler", "must be a function");
    const definition = completeDefinition(
      {
        name,
        schedule: typeof schedule === "string" ? schedule : fieldsOfSchedule(schedule),
        syntax: "deno",
        ...(backoffSchedule !== undefined && { backoffSchedule }),
        handler: async () => {
          await handler();
        },
      },
      "cron",
    );
    if (definition.backoffSchedule !== undefined && (backoffSchedule?.length ?? 0) > 5)
      throw refuse("backoffSchedule", "must have at most 5 numbers");
    if (names.has(name)) throw refuse("name", `is that of another cron: ${name}`);
    names.add(name);
    const running = runCrons(kv, [definition], { ...options, ...(signal && { signal }) });
    return running.finally(() => names.delete(name));
  };
}
