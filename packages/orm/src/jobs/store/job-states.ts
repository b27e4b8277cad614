import { JobPayloadError } from "../../errors/job-errors.js";
import type { CompiledJob } from "../define/define-job.js";
import type { JobRow, StoredJobError } from "./job-model.js";

/*
 * States of a job. Each arrow is one commit.
 *
 *   enqueue ── delay, runAt ──→ delayed ── due ──→ waiting ←── retry ── failed ── discard ──→ gone
 *      └──────────────────────────────────────────→ │ ↑                    ↑
 *                                             claim │ │ stop, lost lease   │ no attempt is left
 *                                                   ↓ │                    │
 *                              delayed ←── throws ── running ──────────────┘
 *                                                   │
 *                                      succeeds or is cancelled
 *                                                   ↓
 *                                          gone, or done until its time
 */

/** Room for an error in short, and for what a run stores. */
export const firstReserve: string = "-".repeat(1024);
/** Room for what a run stores. */
const laterReserve = "-".repeat(64);

/** Returns the reserve of the next state. Only jobs that were stored with one have it. */
function reserved({ reserve }: JobRow, next: string): Pick<JobRow, "reserve"> {
  return reserve === undefined ? {} : { reserve: next };
}

/** A job that waits from now on. */
export function waitingRow(row: JobRow, time: number): JobRow {
  // Not -0, which is another key than 0.
  const reserve = reserved(row, laterReserve);
  return { ...row, ...notRunning, ...reserve, state: "waiting", rank: 0 - row.priority, time };
}

/** A job that is due at a time. */
export function delayedRow(row: JobRow, dueAt: number): JobRow {
  const reserve = reserved(row, laterReserve);
  return { ...row, ...notRunning, ...reserve, state: "delayed", rank: 0, time: dueAt };
}

const notRunning = { run: null, slot: null } as const;

export interface Claim {
  readonly run: string;
  readonly leaseEnd: number;
  readonly slot: number | null;
}

/** A job that a run has taken. */
export function runningRow(row: JobRow, { run, leaseEnd, slot }: Claim): JobRow {
  const attempts = row.attempts + 1;
  const reserve = reserved(row, "");
  return { ...row, ...reserve, state: "running", rank: 0, time: leaseEnd, attempts, run, slot };
}

/** A job in the dead-letter list. Its unique key is free again. */
export function failedRow(row: JobRow, error: StoredJobError): JobRow {
  const ended = { ...notRunning, uniqueKey: null, isCancelled: false };
  return { ...row, ...ended, state: "failed", rank: 0, time: error.at, error };
}

/** What is left of a job that has succeeded. Null if it is removed. */
export function doneRow(row: JobRow, result: unknown, keep: number, now: number): JobRow | null {
  if (keep === 0) return null;
  const ended = { ...notRunning, uniqueKey: null, isCancelled: false };
  return { ...row, ...ended, state: "done", rank: 0, time: now + keep, result, error: null };
}

/** What becomes of a running job whose attempt has failed. */
export function afterFailure(
  row: JobRow,
  job: Pick<CompiledJob, "attempts" | "pauseAfter">,
  error: StoredJobError,
  isFinal: boolean,
): JobRow | null {
  if (row.isCancelled) return null;
  if (isFinal || row.attempts >= job.attempts) return failedRow(row, error);
  const pause = Math.ceil(job.pauseAfter(row.attempts));
  const next = pause === 0 ? waitingRow(row, error.at) : delayedRow(row, error.at + pause);
  return { ...next, error };
}

/** A text of an error is cut, because databases limit the size of values. */
const longestText = 4000;

/** Returns what is stored of a value that a handler has thrown. */
export function storedErrorOf(thrown: unknown, at: number): StoredJobError {
  try {
    return errorAsStored(thrown, at);
  } catch {
    // A thrown value may throw again when it is converted to text.
    const message = "The handler has thrown a value that has no text.";
    return { name: typeof thrown, message, code: null, stack: null, issues: [], at };
  }
}

/** Returns as little of an error as tells what has happened. */
export function shortErrorOf(thrown: unknown, at: number): StoredJobError {
  const { name, message, code } = storedErrorOf(thrown, at);
  return {
    name: name.slice(0, 50),
    message: message.slice(0, 150),
    code: code?.slice(0, 50) ?? null,
    stack: null,
    issues: [],
    at,
  };
}

function errorAsStored(thrown: unknown, at: number): StoredJobError {
  const error = thrown instanceof Error ? thrown : undefined;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  const text = (value: unknown) => String(value).slice(0, longestText);
  return {
    name: text(error?.name ?? typeof thrown),
    message: text(error?.message ?? thrown),
    code: typeof code === "string" ? text(code) : null,
    stack: error?.stack === undefined ? null : text(error.stack),
    issues: error instanceof JobPayloadError ? issuesOf(error) : [],
    at,
  };
}

function issuesOf({ issues }: JobPayloadError): StoredJobError["issues"] {
  return issues.map(({ path, message }) => {
    const parts = path.map((part) => (typeof part === "number" ? part : String(part)));
    return { path: parts, message: message.slice(0, longestText) };
  });
}
