import type { Kv, KvLimits } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { IndexChangedError, StaleSchemaError } from "../../errors/schema-errors.js";
import {
  TransactionConflictError,
  TransactionEndedError,
} from "../../errors/transaction-errors.js";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { withJoinedReads } from "../../state/context/kv/with-joined-reads.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readStored } from "../../state/rows/read-rows.js";
import { catchAfterHooks, hasDuringHook, isHookError } from "../input/row-hooks.js";
import { commitTogether } from "./commit-together.js";

/** The result of writing one of many rows. */
export type RowResult =
  | {
      readonly ok: true;
      readonly row: FoundRow;
      /** The error of a hook after the write. Absent if no hook threw. */
      readonly hookError?: unknown;
    }
  | {
      readonly ok: false;
      readonly id?: RowId;
      readonly error: unknown;
      /** The position in the data of a row that was not created. */
      readonly position?: number;
    };

export interface EachWrite<T> {
  readonly items: readonly T[];
  /** Writes the row of an item. Resolves to undefined if there is nothing left to write. */
  readonly write: (context: TableContext, item: T) => Promise<FoundRow | undefined>;
  /**
   * Writes the rows of a group by one operation. Returns undefined if nothing was written, and the
   * rows have to be written one by one.
   */
  readonly writeTogether?:
    | ((context: TableContext, items: readonly T[]) => Promise<Outcome[] | undefined>)
    | undefined;
  /** Returns the primary key of an item's row, if it is known before the row is written. */
  readonly idOf?: (item: T) => RowId;
  /** True to write one row after the other, for example because each may take several commits. */
  readonly isAlone?: boolean;
}

interface Written {
  readonly row: FoundRow;
  /** Thrown by hooks after the write, which stays. */
  readonly hookErrors: readonly unknown[];
}

export type Outcome = PromiseSettledResult<Written | undefined>;

/** How many rows are a group, whose reads and commits are made together. */
export const rowsPerGroup = 100;
/** How many groups are in progress at the same time, so that a network is not idle. */
export const groupsAtOnce = 8;

/**
 * Writes rows as if each were written by a separate call, and returns the results in the order of
 * the items. Groups of 100 rows share commits: a database of this package groups commits that are
 * in progress at the same time, and for other databases {@link commitTogether} does.
 *
 * @throws any error that concerns the whole call. Rows of the groups that have begun stay written.
 */
export async function writeEach<T>(
  context: TableContext,
  writes: EachWrite<T>,
): Promise<RowResult[]> {
  const { items, write, writeTogether, idOf, isAlone = false } = writes;
  // A `during` hook needs a transaction for each row.
  const isOneByOne = isAlone || context.transaction !== undefined || hasDuringHook(context);
  const groupsReads = groupsCommits(context.kv);
  const writeAll = async (batch: readonly T[]): Promise<Outcome[]> => {
    if (isOneByOne) return await Promise.allSettled(batch.map((i) => writeOne(context, write, i)));
    if (groupsReads) {
      const together = await writeTogether?.(context, batch);
      if (together !== undefined) return together;
      const joined = withJoinedReads(context, (keys) => readStored(context, keys));
      return await Promise.allSettled(batch.map((item) => writeOne(joined, write, item)));
    }
    return await commitTogether(
      context,
      batch.map((item) => (kv: Kv) => writeOne({ ...context, kv }, write, item)),
    );
  };
  const groupSize = isOneByOne ? 1 : rowsPerGroup;
  const maxGroups = isOneByOne || !groupsReads ? 1 : groupsAtOnce;
  const results: RowResult[] = [];
  const begun: { readonly group: readonly T[]; readonly outcomes: Promise<Outcome[]> }[] = [];
  const finishFirst = async (): Promise<void> => {
    const { group, outcomes } = begun.shift()!;
    for (const [i, outcome] of (await outcomes).entries()) {
      if (outcome.status === "fulfilled") {
        if (outcome.value === undefined) continue;
        const { row, hookErrors } = outcome.value;
        results.push(
          hookErrors.length === 0 ? { ok: true, row } : { ok: true, row, hookError: hookErrors[0] },
        );
        continue;
      }
      const error: unknown = outcome.reason;
      if (isOfCall(context, error)) throw error;
      results.push({ ok: false, ...(idOf && { id: idOf(group[i] as T) }), error });
    }
  };
  try {
    for (let from = 0; from < items.length; from += groupSize) {
      if (from > 0 && from % rowsPerGroup === 0) await yieldToEventLoop();
      const group = items.slice(from, from + groupSize);
      begun.push({ group, outcomes: writeAll(group) });
      if (begun.length === maxGroups) await finishFirst();
    }
    while (begun.length > 0) await finishFirst();
  } finally {
    await Promise.allSettled(begun.map(({ outcomes }) => outcomes));
  }
  return results;
}

async function writeOne<T>(
  context: TableContext,
  write: EachWrite<T>["write"],
  item: T,
): Promise<Written | undefined> {
  const caught = catchAfterHooks(context);
  const row = await write(caught?.context ?? context, item);
  return row && { row, hookErrors: caught?.errors ?? [] };
}

/** Embedded databases commit concurrent operations as one, and only they report their limits. */
function groupsCommits(kv: Kv & { readonly limits?: KvLimits }): boolean {
  return kv.limits !== undefined;
}

/** True if every other row would fail too, or the transaction has ended or has to run again. */
export function isOfCall({ transaction }: TableContext, error: unknown): boolean {
  if (isHookError(error)) return false;
  return (
    error instanceof InvalidArgumentError ||
    error instanceof StaleSchemaError ||
    error instanceof IndexChangedError ||
    (transaction !== undefined &&
      (error instanceof TransactionConflictError || error instanceof TransactionEndedError))
  );
}
