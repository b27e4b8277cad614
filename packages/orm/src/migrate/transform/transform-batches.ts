import type { AtomicOperation, KvKeyPart } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { TableContext, TableLimits } from "../../context/table-context.js";
import { keyText } from "../../indexes/key-text.js";
import { isLimitError } from "../../transaction/is-limit-error.js";
import { isRefusal } from "../../write/many/commit-together.js";
import { SharedCommit } from "../../write/many/shared-commit.js";
import type { MigrationRun } from "../run/migration-run.js";
import {
  failureOf,
  planFailed,
  planTransform,
  type TransformedRow,
  type TransformPlan,
} from "./plan-transform.js";
import { type TransformState, transformStateKey } from "./transform-state.js";

/** Where rows come from, in the order of their keys. */
export interface RowSource {
  /** The primary key behind which they begin; null for the first ones. */
  readonly start: readonly KvKeyPart[] | null;
  /** The next ones behind a primary key; fewer than asked for only at the end. */
  readonly next: (
    after: readonly KvKeyPart[] | null,
    limit: number,
  ) => Promise<readonly TransformedRow[]>;
  /** The state when rows up to this one are done. */
  readonly moved: (
    state: TransformState,
    rows: number,
    after: readonly KvKeyPart[],
  ) => TransformState;
  /** Called behind each batch. */
  readonly onBatch: (state: TransformState) => void;
}

/** What is planned for some rows, by which catalog. */
interface Batch {
  readonly snapshot: CatalogSnapshot;
  readonly plans: readonly TransformPlan[];
  /** The state when so many rows more are recorded as failed, and all up to the last of some are done. */
  readonly stateAfter: (rows: number, failed: number) => TransformState;
}

const maxBatchRows = 250;

/** Changes the rows of a source, batch after batch; the state then. */
export async function transformBatches(
  context: TableContext,
  run: MigrationRun,
  state: TransformState,
  source: RowSource,
): Promise<TransformState | "stopped"> {
  const { catalog, limits } = context;
  const most = Math.max(1, Math.min(maxBatchRows, run.batchRows, limits.checks - 2));
  let [current, after, size] = [state, source.start, most];
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    const rows = await source.next(after, size);
    if (rows.length === 0) return current;
    const { snapshot } = catalog;
    const one = { ...context, limits: limitsOfRow(limits) };
    const plans = await Promise.all(rows.map((row) => planTransform(one, snapshot, row)));
    const before = current;
    const stateAfter = (count: number, failed: number): TransformState => {
      const moved = source.moved(before, count, rows[count - 1]?.primaryKey ?? []);
      return { ...moved, failed: moved.failed + failed };
    };
    const done = await commitPlans(context, run, { snapshot, plans, stateAfter });
    if (done === undefined) {
      // A writer changed one of the rows or the catalog, or they were too much for one commit.
      if (!(await catalog.reload())) size = Math.max(1, Math.floor(size / 2));
      catalog.snapshot.assertWritable();
      await run.took(0);
      continue;
    }
    current = done.state;
    source.onBatch(current);
    await run.took(done.rows);
    const isLast = done.rows === rows.length && rows.length < size;
    if (isLast) return current;
    after = rows[done.rows - 1]?.primaryKey ?? after;
    size = Math.max(1, Math.min(most, 2 * done.rows));
  }
}

/** What is left for one row beside the lease, the state, and the record that it has failed. */
function limitsOfRow(limits: TableLimits): TableLimits {
  return { ...limits, checks: limits.checks - 1, mutations: limits.mutations - 3 };
}

/**
 * Commits as many plans as fit together, from the first on, and the state behind them. The lease says that nobody else has
 * moved the state.
 *
 * @returns how many rows those were; undefined where a check failed, or they were too much for one commit.
 */
async function commitPlans(
  context: TableContext,
  run: MigrationRun,
  batch: Batch,
): Promise<{ readonly rows: number; readonly state: TransformState } | undefined> {
  const { kv, model, limits } = context;
  const { snapshot, plans, stateAfter } = batch;
  const together = new SharedCommit({ checks: limits.checks - 1, mutations: limits.mutations - 2 });
  let [rows, failed] = [0, 0];
  try {
    for (const plan of plans) {
      if (plan.operation !== undefined && !together.add(plan.operation)) break;
      rows++;
      failed += plan.failed;
    }
    const state = stateAfter(rows, failed);
    const operation = kv.atomic();
    addAll(operation, together);
    const result = await run.lease.commit(operation.set(transformStateKey(model), state));
    return result.ok ? { rows, state } : undefined;
  } catch (error) {
    if (!isLimitError(error) && !isRefusal(error)) throw error;
    const planned = plans.filter(({ operation }) => operation !== undefined);
    const [only] = planned;
    if (planned.length > 1) return undefined;
    if (only === undefined || only.failure !== undefined) throw error;
    const record = planFailed(context, snapshot, only.row, failureOf(error));
    const others = plans.map((plan) => (plan === only ? record : plan));
    return await commitPlans(context, run, { ...batch, plans: others });
  }
}

/** Does in one operation what those of a shared commit do. */
function addAll(operation: AtomicOperation, { operations }: SharedCommit): void {
  const checked = new Set<string>();
  for (const { checks } of operations) {
    for (const check of checks) {
      const text = keyText(check.key);
      if (!checked.has(text)) operation.check(check);
      checked.add(text);
    }
  }
  const now = Date.now();
  for (const own of operations) own.applyTo(operation, now);
}
