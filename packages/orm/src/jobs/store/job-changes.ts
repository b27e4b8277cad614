import {
  type AtomicCheck,
  isKeywrightError,
  type KvCommitError,
  type KvCommitResult,
} from "@keywright/core";
import type { PlannedChange } from "../../derived/plan-row.js";
import { TransactionConflictError } from "../../errors/transaction-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { allReady } from "../../promises/when-ready.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { withJoinedReads } from "../../state/context/kv/with-joined-reads.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { writableCatalog } from "../../state/context/writable-catalog.js";
import { readStored } from "../../state/rows/read-rows.js";
import {
  assertWithin,
  isLimitError,
  limitErrorOf,
} from "../../state/transaction/limit-error-of.js";
import { FailedAttempt, retry } from "../../state/transaction/retry.js";
import { runUpkeep } from "../../write/commit/commit-change.js";
import { planChange } from "../../write/commit/plan-change.js";
import { groupOperation } from "../../write/many/group-operation.js";
import type { JobRow, StoredJob } from "./job-model.js";
import { type Mark, markKey } from "./marks.js";

/** What a change of jobs has returned, and the versionstamp that the jobs have now. */
export interface Changed<T> {
  readonly result: T;
  /** Null if nothing was written. That of a transaction is provisional. */
  readonly versionstamp: string | null;
}

const mostAttempts = 100;

/**
 * Changes jobs in one commit, or as a part of the transaction of the context. The commit checks
 * that no other one has changed any of the jobs. If one has, the function runs again, so it should
 * do nothing but read.
 *
 * @throws {TransactionConflictError} after all attempts.
 */
export async function changeJobs<T>(
  context: TableContext,
  plan: (changes: JobChanges) => Promise<T>,
  maxAttempts: number = mostAttempts,
): Promise<Changed<T>> {
  const attempt = async (): Promise<Changed<T> | FailedAttempt> => {
    const changes = new JobChanges(context);
    const result = await plan(changes);
    if (changes.isEmpty) return { result, versionstamp: null };
    const committed = await changes.commit();
    if (committed.ok) return { result, versionstamp: committed.versionstamp };
    return new FailedAttempt((attempts) => new TransactionConflictError(attempts));
  };
  return await retry(attempt, { maxAttempts, pauses: "growing" });
}

/** Changes of jobs that are committed together. No two of them are of the same job. */
export class JobChanges {
  readonly #context: TableContext;
  readonly #jobs: { readonly before: StoredJob | null; readonly row: JobRow | null }[] = [];
  readonly #checks: AtomicCheck[] = [];
  readonly #marks = new Set<Mark>();

  constructor(context: TableContext) {
    this.#context = context;
  }

  /** True if there is nothing to commit. */
  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  /** Adds a job, or its next row, or its removal. */
  write(...change: readonly [null, JobRow] | readonly [StoredJob, JobRow | null]): void {
    const [before, row] = change;
    this.#jobs.push({ before, row });
  }

  /** Adds a check of something else that the changes depend on. */
  check(check: AtomicCheck): void {
    this.#checks.push(check);
  }

  /** Changes a mark, by which workers notice the commit. */
  mark(mark: Mark): void {
    this.#marks.add(mark);
  }

  async commit(): Promise<KvCommitResult | KvCommitError> {
    const context = this.#context;
    const { catalog, transaction } = context;
    const snapshot = await writableCatalog(context);
    const planned = await this.#plan(snapshot);
    let result: KvCommitResult | KvCommitError;
    const committedAt = performance.now();
    try {
      if (transaction === undefined) assertWithin(context.limits, "checks", this.#count(planned));
      const operation = groupOperation(context, snapshot, planned).check(...this.#checks);
      // It reads nothing, so no two commits conflict because of a mark.
      for (const mark of this.#marks) operation.sum(markKey(mark), 1n);
      result = await operation.commit();
    } catch (error) {
      throw limitErrorOf(error);
    }
    if (!result.ok) {
      await catalog.reload();
      return result;
    }
    if (transaction === undefined) catalog.confirm(snapshot, committedAt, result.versionstamp);
    for (const { effects } of planned)
      if (effects.upkeep.length > 0) await runUpkeep(context, effects);
    return result;
  }

  /** Plans all changes. What their plans read is read together. */
  async #plan(snapshot: CatalogSnapshot): Promise<readonly PlannedChange[]> {
    const context = this.#context;
    const joined = withJoinedReads(context, (keys) => readStored(context, keys));
    const view = viewOf(joined, snapshot);
    const plans: (PlannedChange | Promise<PlannedChange>)[] = [];
    for (const { before, row } of this.#jobs) {
      const primaryKey = [(row ?? before!.row).id];
      const change = { primaryKey, before: before as FoundRow | null, row: row as AnyRow | null };
      try {
        plans.push(planChange(joined, snapshot, change, view));
      } catch (error) {
        // None of the others is left running.
        await Promise.allSettled(plans.map(async (plan) => await plan));
        throw error;
      }
    }
    return await allReady(plans);
  }

  #count(planned: readonly PlannedChange[]): number {
    let checks = 1 + this.#checks.length;
    for (const { effects } of planned) checks += effects.checks.length + effects.claims.length;
    return checks;
  }
}

/**
 * Returns how many jobs one commit of the database can change, if they are small.
 *
 * @param checks how many checks each has at most: of its row, of its unique key and of its place.
 */
export function jobsPerCommit({ limits }: TableContext, checks = 3): number {
  return Math.max(1, Math.min(maxGroup, Math.floor((limits.checks - 1) / checks)));
}

/** Changes jobs in one commit, or in several ones if they are too large for one. */
export async function inCommits<T>(
  jobs: readonly T[],
  change: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  try {
    await change(jobs);
  } catch (error) {
    if (jobs.length < 2 || !isLimitError(error)) throw error;
    const half = Math.ceil(jobs.length / 2);
    await inCommits(jobs.slice(0, half), change);
    await inCommits(jobs.slice(half), change);
  }
}

/** Larger groups gain little, and one conflict repeats all of it. */
const maxGroup = 100;

/** True if the database refuses a change, has written nothing, and would refuse it again. */
export function isRefusal(error: unknown): boolean {
  if (!isKeywrightError(error) || error.retryable) return false;
  return !isAmbiguous(error) && error.code !== "KW_ENGINE_FAILED";
}

/** True if it is not known whether a change was written. */
export function isAmbiguous(error: unknown): boolean {
  return isKeywrightError(error) && error.code === "KW_COMMIT_AMBIGUOUS";
}
