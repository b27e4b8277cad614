import { monotonicUlid } from "@keywright/core";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { deepCopy } from "../../model/rows/copy-of-data.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { CompiledJob } from "../define/define-job.js";
import { durationOf, durationText } from "../define/duration.js";
import type { EnqueueOptions } from "../job-types.js";
import type { JobRow } from "../store/job-model.js";
import { delayedRow, firstReserve, waitingRow } from "../store/job-states.js";
import { parsePayload } from "../store/parse-payload.js";

/** A job that is to be stored. */
export interface NewJob {
  readonly payload: unknown;
  readonly options: EnqueueOptions;
}

/**
 * Returns the rows of new jobs.
 *
 * @throws {JobPayloadError} if a payload does not fit the schema.
 * @throws {InvalidArgumentError} if an option is not valid.
 */
export async function newRows(
  context: TableContext,
  job: CompiledJob,
  jobs: readonly NewJob[],
  call: string,
): Promise<JobRow[]> {
  const now = Date.now();
  const rows: JobRow[] = [];
  // The later states of a job have to fit into a value too.
  const { valueBytes } = context.catalog.capabilities.limits;
  const reserve = Number.isFinite(valueBytes) ? { reserve: firstReserve } : {};
  const trace = context.settings.jobTracing?.current() ?? null;
  for (const { payload, options } of jobs) {
    // The caller may change its objects before the commit.
    const copy = deepCopy(payload);
    const row = { ...newRow(job, copy, options, now, call), trace };
    await parsePayload(job, copy);
    rows.push({ ...row, ...reserve });
  }
  return rows;
}

function newRow(
  job: CompiledJob,
  payload: unknown,
  options: EnqueueOptions,
  now: number,
  call: string,
): JobRow {
  const dueAt = dueTimeOf(job, options, now, call);
  const { priority = job.priority, unique = null } = options;
  const row: JobRow = {
    id: monotonicUlid(),
    topic: job.name,
    state: "waiting",
    rank: 0,
    time: now,
    priority,
    payload,
    enqueuedAt: now,
    attempts: 0,
    uniqueKey: unique,
    key: unique,
    run: null,
    slot: null,
    trace: null,
    isCancelled: false,
    error: null,
    result: undefined,
  };
  return dueAt > now ? delayedRow(row, dueAt) : waitingRow(row, now);
}

const optionNames: readonly string[] = ["delay", "runAt", "unique", "priority"];

/** Checks the options of a job, and returns when it is due. */
function dueTimeOf(job: CompiledJob, options: EnqueueOptions, now: number, call: string): number {
  const fail = (argument: string, reason: string): never => {
    throw new InvalidArgumentError("", argument, reason, `jobs.${job.name}.${call}`);
  };
  if (!isPlainObject(options)) return fail("options", "it must be an object");
  for (const name of Object.keys(options)) {
    if (!optionNames.includes(name))
      fail(name, `there is no such option; the options are ${optionNames.join(", ")}`);
  }
  const { delay, runAt, unique, priority } = options;
  if (unique !== undefined && (typeof unique !== "string" || unique === ""))
    fail("unique", "it must be a text that is not empty");
  if (priority !== undefined && !Number.isFinite(priority))
    fail("priority", "it must be a finite number");
  if (delay !== undefined && runAt !== undefined)
    fail("runAt", "a job has either delay or runAt; leave one of them out");
  if (runAt !== undefined) {
    const time = runAt instanceof Date ? runAt.getTime() : Number.NaN;
    return Number.isNaN(time) ? fail("runAt", "it must be a valid date") : time;
  }
  if (delay === undefined) return now;
  return now + Math.ceil(durationOf(delay) ?? fail("delay", `it must be ${durationText}`));
}
