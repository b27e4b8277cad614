import { KeywrightError } from "@keywright/core";
import type * as z from "zod";
import type { OrmErrorCode } from "./codes.js";
import { issuesMessage, issuesReason, type RowIssue } from "./row-issue.js";

/** The base class of the errors of jobs. Each names a job by the `name` of its definition. */
export class JobError extends KeywrightError {
  readonly job: string;

  constructor(
    code: OrmErrorCode,
    job: string,
    text: string,
    options?: { readonly cause?: unknown },
  ) {
    super(code, `jobs.${job}: ${text}`, options);
    this.job = job;
  }
}

/** A definition of `defineJob`, or a name in `jobs` of `createDatabase`, that cannot be used. */
export class JobDefinitionError extends JobError {
  /** The option that is not valid. */
  readonly option: string;
  readonly reason: string;

  constructor(job: string, option: string, reason: string) {
    super("KW_JOB_INVALID", job, `${option}: ${reason}`);
    this.option = option;
    this.reason = reason;
  }
}

/**
 * A payload that does not fit the schema of its job. `enqueue` throws it and writes nothing. A
 * stored job whose payload no longer fits fails with it, and is not tried again.
 */
export class JobPayloadError extends JobError {
  readonly issues: readonly RowIssue[];

  constructor(job: string, error: z.core.$ZodError, schema: z.core.$ZodType) {
    const text = `the payload does not fit the schema: ${issuesMessage(error.issues, schema)}`;
    super("KW_JOB_PAYLOAD_INVALID", job, text, { cause: error });
    this.issues = error.issues.map(({ path, code, message }) => ({ path, code, message }));
  }

  /** The issues as a text: `userId: Invalid ULID`. */
  get reason(): string {
    return issuesReason(this.issues);
  }
}

/**
 * The run of a job no longer has the job: its lease has ended, or the job has ended. Nothing was
 * written. Another run may have the job.
 */
export class JobLostError extends JobError {
  readonly id: string;

  constructor(job: string, id: string, options?: { readonly cause?: unknown }) {
    const text = `the run of the job ${id} no longer has it, because its lease or the job has ended, and nothing was written; end the handler`;
    super("KW_JOB_LOST", job, text, options);
    this.id = id;
  }
}

/** The process that ran a job ended or stood still, so that the lease of the job has ended. */
export class JobInterruptedError extends JobError {
  readonly id: string;

  constructor(job: string, id: string) {
    const text = `the process that ran the job ${id} ended or stood still until the lease of the job had ended`;
    super("KW_JOB_INTERRUPTED", job, text);
    this.id = id;
  }
}

/** A handler has not ended within the `timeout` of its job. */
export class JobTimeoutError extends JobError {
  readonly id: string;
  /** Milliseconds. */
  readonly timeout: number;

  constructor(job: string, id: string, timeout: number) {
    super(
      "KW_JOB_TIMEOUT",
      job,
      `the job ${id} has not ended within ${timeout} ms; end the handler when its signal is aborted, call heartbeat in it, or raise timeout`,
    );
    this.id = id;
    this.timeout = timeout;
  }
}

/** A job was cancelled while it ran. It is removed when its handler ends. */
export class JobCancelledError extends JobError {
  readonly id: string;

  constructor(job: string, id: string) {
    super("KW_JOB_CANCELLED", job, `the job ${id} was cancelled; end the handler`);
    this.id = id;
  }
}

/** The worker of a job stops. The job waits again, and the attempt is not counted. */
export class WorkerStoppedError extends KeywrightError {
  constructor() {
    super(
      "KW_WORKER_STOPPED",
      "the worker stops and gives its jobs back, so that they wait again; end the handler",
    );
  }
}
