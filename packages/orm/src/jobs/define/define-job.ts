import type * as z from "zod";
import { JobDefinitionError } from "../../errors/job-errors.js";
import { knownNames } from "../../errors/nearest-name.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { type Duration, durationOf, durationText, longestTimer } from "./duration.js";

/** How a job is tried again after a handler has thrown. */
export interface JobRetry {
  /** How often the job is tried at most, with the first time. The default is 5. */
  readonly attempts?: number | undefined;
  /**
   * How the pauses grow: `"exponential"` doubles each of them (the default), `"fixed"` keeps them
   * equal, and a list names them one by one, of which the last one repeats.
   */
  readonly backoff?: "exponential" | "fixed" | readonly Duration[] | undefined;
  /** The first pause. The default is one second. */
  readonly delay?: Duration | undefined;
  /** The longest pause. The default is one hour. */
  readonly maxDelay?: Duration | undefined;
  /** The share of a pause that is drawn at random, from 0 to 1. The default is 0.25. */
  readonly jitter?: number | undefined;
}

/** How many jobs of one name may begin in a stretch of time, in all processes together. */
export interface JobRate {
  readonly limit: number;
  readonly per: Duration;
}

/** What `defineJob` takes. */
export interface JobOptions<Name extends string, Schema extends z.ZodType> {
  /** Names the stored jobs. If it changes, the jobs of the old name stay and wait. */
  readonly name: Name;
  /** The schema of the payload. The input is stored, and the handler gets the output. */
  readonly schema: Schema;
  readonly retry?: JobRetry | undefined;
  /**
   * How long a handler may run, from its begin or its last heartbeat. Then its signal is aborted,
   * and the attempt has failed. Without it, a handler may run for ever.
   */
  readonly timeout?: Duration | undefined;
  /** How many of the jobs run at the same time, in all processes together. */
  readonly concurrency?: number | undefined;
  readonly rate?: JobRate | undefined;
  /** Jobs of a higher priority run first. The default is 0. */
  readonly priority?: number | undefined;
  /** How long a job stays in the database after its success, with what the handler returned. */
  readonly keepResult?: Duration | undefined;
}

declare const jobBrand: unique symbol;

/** A kind of job: its name, its payload and how it runs. Made by `defineJob`. */
export interface JobDefinition<Name extends string = string, Schema extends z.ZodType = z.ZodType>
  extends JobOptions<Name, Schema> {
  readonly [jobBrand]?: never;
}

/** Job definitions by the names that a program uses for them. */
export type AnyJobs = Readonly<Record<string, JobDefinition>>;

/** A definition in milliseconds, with all defaults. */
export interface CompiledJob {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly attempts: number;
  /** Returns the pause after an attempt that failed, in milliseconds. The first attempt is 1. */
  readonly pauseAfter: (attempt: number) => number;
  readonly timeout: number | undefined;
  readonly concurrency: number | undefined;
  readonly rate: { readonly limit: number; readonly window: number } | undefined;
  readonly priority: number;
  readonly keepResult: number;
}

const optionNames = "name schema retry timeout concurrency rate priority keepResult".split(" ");
const retryNames = "attempts backoff delay maxDelay jitter".split(" ");

/**
 * Defines a kind of job.
 *
 * ```ts
 * const SendMail = defineJob({
 *   name: "send-mail",
 *   schema: z.object({ userId: z.ulid() }),
 *   retry: { attempts: 5, backoff: "exponential" },
 * });
 * ```
 *
 * @throws {JobDefinitionError} if an option is missing, unknown or not valid.
 */
export function defineJob<const Name extends string, Schema extends z.ZodType>(
  options: JobOptions<Name, Schema>,
): JobDefinition<Name, Schema> {
  compileJob(options);
  return Object.freeze({ ...options });
}

/** @throws {JobDefinitionError} if a definition is not valid. */
export function compileJob(job: JobOptions<string, z.ZodType>): CompiledJob {
  const fail = (option: string, reason: string): never => {
    throw new JobDefinitionError(String((job as { name?: unknown })?.name), option, reason);
  };
  if (!isPlainObject(job)) return fail("argument", "it must be an object");
  assertNames(job, "", optionNames, fail);
  const { name, schema, retry = {}, rate, concurrency, priority = 0 } = job;
  if (typeof name !== "string" || name === "") fail("name", "it must be a text that is not empty");
  if (typeof schema !== "object" || schema === null || !("_zod" in schema))
    fail("schema", "it must be a schema of Zod 4");
  if (!isPlainObject(retry)) fail("retry", "it must be an object");
  assertNames(retry, "retry.", retryNames, fail);
  const duration = (option: string, value: unknown): number =>
    durationOf(value) ?? fail(option, `it must be ${durationText}`);
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;
  const { attempts = 5 }: JobRetry = retry as JobRetry;
  if (!isCount(attempts)) fail("retry.attempts", "it must be a positive integer");
  if (concurrency !== undefined && !isCount(concurrency))
    fail("concurrency", "it must be a positive integer");
  if (!Number.isFinite(priority)) fail("priority", "it must be a finite number");
  if (rate !== undefined && !isPlainObject(rate)) fail("rate", "it must be { limit, per }");
  if (rate !== undefined && !isCount(rate.limit))
    fail("rate.limit", "it must be a positive integer");
  const window = rate && duration("rate.per", rate.per);
  if (window === 0) fail("rate.per", "it must be longer than 0");
  const timeout = job.timeout === undefined ? undefined : duration("timeout", job.timeout);
  if (timeout !== undefined && !(timeout > 0 && timeout <= longestTimer))
    fail("timeout", "it must be longer than 0, and at most 24 days");
  return {
    name,
    schema,
    attempts,
    pauseAfter: pausesOf(retry, duration, fail),
    timeout,
    concurrency,
    rate: rate && { limit: rate.limit, window: window! },
    priority,
    keepResult: job.keepResult === undefined ? 0 : duration("keepResult", job.keepResult),
  };
}

function pausesOf(
  { backoff = "exponential", delay = 1000, maxDelay = 3_600_000, jitter = 0.25 }: JobRetry,
  duration: (option: string, value: unknown) => number,
  fail: (option: string, reason: string) => never,
): CompiledJob["pauseAfter"] {
  if (!(typeof jitter === "number" && jitter >= 0 && jitter <= 1))
    fail("retry.jitter", "it must be a number from 0 to 1");
  const first = duration("retry.delay", delay);
  const most = duration("retry.maxDelay", maxDelay);
  const drawn = (pause: number) => pause * (1 - jitter * Math.random());
  if (Array.isArray(backoff)) {
    if (backoff.length === 0) fail("retry.backoff", "the list must not be empty");
    const pauses = backoff.map((each, i) => duration(`retry.backoff[${i}]`, each));
    return (attempt) => drawn(pauses[Math.min(attempt, pauses.length) - 1]!);
  }
  if (backoff === "fixed") return () => drawn(Math.min(first, most));
  if (backoff !== "exponential")
    fail("retry.backoff", 'it must be "exponential", "fixed" or a list of pauses');
  return (attempt) => drawn(Math.min(first * 2 ** (attempt - 1), most));
}

function assertNames(
  object: object,
  place: string,
  names: readonly string[],
  fail: (option: string, reason: string) => never,
): void {
  for (const name of Object.keys(object)) {
    if (names.includes(name)) continue;
    fail(`${place}${name}`, `there is no such option; ${knownNames(name, names, "options")}`);
  }
}

/** True if a value has the shape of a definition, even if another copy of this package made it. */
export function isJob(value: unknown): value is JobDefinition {
  if (typeof value !== "object" || value === null) return false;
  const { name, schema } = value as { readonly name?: unknown; readonly schema?: unknown };
  return (
    typeof name === "string" && typeof schema === "object" && schema !== null && "_zod" in schema
  );
}
