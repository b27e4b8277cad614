import type { KvKeyPart } from "@keywright/core";
import { awaitAll } from "../../promises/await-all.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import { withJoinedReads } from "../../state/context/kv/with-joined-reads.js";
import type { TableLimits } from "../../state/context/model-store.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readStored } from "../../state/rows/read-rows.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { isRefusal } from "../../write/many/commit-together.js";
import { commitRows } from "./commit-rows.js";
import {
  failureOf,
  planFailed,
  planTransform,
  type TransformedRow,
  type TransformPlan,
} from "./plan-transform.js";
import { type TransformState, transformStateKey } from "./transform-state.js";

export interface RowSource {
  /** The primary key after which to begin; null to begin at the first row. */
  readonly start: readonly KvKeyPart[] | null;
  /** Returns the rows after a primary key. Returns fewer than `limit` only at the end. */
  readonly next: (
    after: readonly KvKeyPart[] | null,
    limit: number,
  ) => Promise<readonly TransformedRow[]>;
  /**
   * Returns the state after some more rows are done, the last of which has the primary key `after`.
   */
  readonly moved: (
    state: TransformState,
    rows: number,
    after: readonly KvKeyPart[],
  ) => TransformState;
  readonly onBatch: (state: TransformState) => void;
}

/** The plans for some rows, and the catalog snapshot that they were made with. */
interface Batch {
  readonly snapshot: CatalogSnapshot;
  readonly plans: readonly TransformPlan[];
  /** Returns the state after the first rows, with `failed` more failure records. */
  readonly stateAfter: (rows: number, failed: number) => TransformState;
}

const maxTransformRows = 250;

/** Changes the rows of a source in batches, and returns the last state. */
export async function transformBatches(
  context: TableContext,
  run: MigrationRun,
  state: TransformState,
  source: RowSource,
): Promise<TransformState | "stopped"> {
  const { catalog, limits } = context;
  const maxSize = Math.max(1, Math.min(maxTransformRows, run.batchRows, limits.checks - 2));
  let [current, after, size] = [state, source.start, maxSize];
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    const rows = await source.next(after, size);
    if (rows.length === 0) return current;
    const { snapshot } = catalog;
    const joined = withJoinedReads(context, (keys) => readStored(context, keys));
    const rowContext = { ...joined, limits: rowLimits(limits) };
    const plans = await awaitAll(rows.map((row) => planTransform(rowContext, snapshot, row)));
    const before = current;
    const stateAfter = (count: number, failed: number): TransformState => {
      const nextState = source.moved(before, count, rows[count - 1]?.primaryKey ?? []);
      return { ...nextState, failed: nextState.failed + failed };
    };
    const committed = await commitPlans(context, run, { snapshot, plans, stateAfter });
    if (committed === undefined) {
      // A writer changed one of the rows or the catalog, or the batch was too large for one commit.
      if (!(await catalog.reload())) size = Math.max(1, Math.floor(size / 2));
      catalog.snapshot.assertWritable();
      await run.afterBatch(0);
      continue;
    }
    current = committed.state;
    source.onBatch(current);
    await run.afterBatch(committed.rows);
    const isLast = committed.rows === rows.length && rows.length < size;
    if (isLast) return current;
    after = rows[committed.rows - 1]?.primaryKey ?? after;
    size = Math.max(1, Math.min(maxSize, 2 * committed.rows));
  }
}

/** The commit of a row also has to take the lease, the state and the failure record. */
function rowLimits(limits: TableLimits): TableLimits {
  return { ...limits, checks: limits.checks - 1, mutations: limits.mutations - 3 };
}

/**
 * Commits as many plans as fit into one commit, beginning with the first, and the state after them.
 * The check of the lease ensures that no other runner has changed the state.
 *
 * @returns the number of rows and the state; undefined if a check failed or the commit was too
 * large.
 */
async function commitPlans(
  context: TableContext,
  run: MigrationRun,
  batch: Batch,
): Promise<{ readonly rows: number; readonly state: TransformState } | undefined> {
  const { snapshot, plans, stateAfter } = batch;
  try {
    return await commitRows(context, run.lease, plans, {
      mutations: 1,
      write: (operation, rows) => {
        const failed = plans.slice(0, rows).reduce((sum, plan) => sum + plan.failed, 0);
        const state = stateAfter(rows, failed);
        operation.set(transformStateKey(context.model), state);
        return { rows, state };
      },
    });
  } catch (error) {
    if (!isLimitError(error) && !isRefusal(error)) throw error;
    const planned = plans.filter(({ operation }) => operation !== undefined);
    const [single] = planned;
    if (planned.length > 1) return undefined;
    if (single === undefined || single.failure !== undefined) throw error;
    const record = planFailed(context, snapshot, single.row, failureOf(error));
    const others = plans.map((plan) => (plan === single ? record : plan));
    return await commitPlans(context, run, { ...batch, plans: others });
  }
}
