import * as z from "zod";
import { defineModel } from "../../model/define-model.js";
import type { Model } from "../../model/model.js";
import type { FoundRow } from "../../state/context/any-query.js";

/** The states of stored jobs. A job that has succeeded is removed, or `done` for a while. */
export const jobStates = ["waiting", "delayed", "running", "failed", "done"] as const;

export type JobState = (typeof jobStates)[number];

/** Why an attempt failed. */
export interface StoredJobError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly stack: string | null;
  readonly issues: readonly {
    readonly path: readonly (string | number)[];
    readonly message: string;
  }[];
  readonly at: number;
}

/** A stored job. All times are milliseconds since 1970. */
export interface JobRow {
  readonly id: string;
  readonly topic: string;
  readonly state: JobState;
  /** The priority with its sign changed for a job that waits, otherwise 0. */
  readonly rank: number;
  /**
   * The order of jobs of the same state and rank: when a waiting job began to wait, when a delayed
   * job is due, when the lease of a running job ends, when a failed job failed, and when a job that
   * is done is removed.
   */
  readonly time: number;
  readonly priority: number;
  readonly payload: unknown;
  readonly enqueuedAt: number;
  /** How many attempts have begun. */
  readonly attempts: number;
  /** The key that no other job may have. Null if there is none, and when the job has ended. */
  readonly uniqueKey: string | null;
  /** The same key, also after the end of the job. */
  readonly key: string | null;
  /** Identifies the run that has the job. Null if it does not run. */
  readonly run: string | null;
  /** One of the places of a job whose `concurrency` is limited. Null if it has none. */
  readonly slot: number | null;
  /** The trace context of the call that enqueued the job. Null if there was none. */
  readonly trace: string | null;
  /** True if the job was cancelled while it ran. */
  readonly isCancelled: boolean;
  /** Why the last attempt failed. */
  readonly error: StoredJobError | null;
  /** What the handler returned. */
  readonly result: unknown;
  /**
   * Takes up room, so that later states of the job fit into a value where a value has a limit: who
   * runs it, and why it failed.
   */
  readonly reserve?: string | undefined;
}

const error = z.object({
  name: z.string(),
  message: z.string(),
  code: z.string().nullable(),
  stack: z.string().nullable(),
  issues: z.array(
    z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
  ),
  at: z.number(),
});

/** The jobs of all names, which the database keeps as rows of this model: {@link JobRow}. */
export const jobModel: Model = defineModel({
  name: "keywright_jobs",
  schema: z.object({
    id: z.ulid(),
    topic: z.string(),
    state: z.enum(jobStates),
    rank: z.number(),
    time: z.number(),
    priority: z.number(),
    payload: z.unknown(),
    enqueuedAt: z.number(),
    attempts: z.number(),
    uniqueKey: z.string().nullable(),
    key: z.string().nullable(),
    run: z.string().nullable(),
    slot: z.number().nullable(),
    trace: z.string().nullable(),
    isCancelled: z.boolean(),
    error: error.nullable(),
    result: z.unknown(),
    reserve: z.string().optional(),
  }),
  primaryKey: "id",
  indexes: {
    byState: { key: ["topic", "state"], count: true },
    byOrder: { key: ["topic", "state", "rank", "time"] },
    byUnique: { key: ["topic", "uniqueKey"], unique: true },
    bySlot: { key: ["topic", "slot"], unique: true },
  },
});

/** A stored job with the versionstamp on which a change is based. */
export interface StoredJob extends Omit<FoundRow, "row"> {
  readonly row: JobRow;
}

/** Returns a job that this program has stored, without reading it. */
export function jobAsStored(row: JobRow, versionstamp: string): StoredJob {
  return { primaryKey: [row.id], row, versionstamp };
}
