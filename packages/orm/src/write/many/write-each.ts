import type { Kv, KvKeyPart, KvLimits } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { withJoinedReads } from "../../context/with-joined-reads.js";
import type { RowId } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { IndexChangedError, StaleSchemaError } from "../../errors/schema-errors.js";
import {
  TransactionConflictError,
  TransactionEndedError,
} from "../../errors/transaction-errors.js";
import { keyText } from "../../indexes/key-text.js";
import { readStored } from "../../query/read/rows/read-rows.js";
import { yieldToEventLoop } from "../../transaction/yield-to-event-loop.js";
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
  /** Returns the primary key of an item's row, if it is known before the row is written. */
  readonly idOf?: (item: T) => RowId;
  /** True to write one row after the other, for example because each may take several commits. */
  readonly isAlone?: boolean;
  /** If a write failed because a row of the same model does not exist, returns its primary key. */
  readonly missingRow?: (error: unknown) => readonly KvKeyPart[] | undefined;
}

interface Written {
  readonly row: FoundRow;
  /** The errors of hooks after the write. */
  readonly hookErrors: readonly unknown[];
}

type Outcome = PromiseSettledResult<Written | undefined>;

type WriteAll<T> = (items: readonly T[]) => Promise<Outcome[]>;

/** How many rows are a group, whose reads and commits are made together. */
const rowsPerGroup = 100;
/** How many groups are in progress at the same time, so that a network is not idle. */
const groupsAtOnce = 8;

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
  const { items, write, idOf, isAlone = false, missingRow } = writes;
  // A `during` hook needs a transaction for each row.
  const isOneByOne = isAlone || context.transaction !== undefined || hasDuringHook(context);
  const groupsReads = groupsCommits(context.kv);
  const writeAll: WriteAll<T> = async (batch) => {
    if (isOneByOne) return await Promise.allSettled(batch.map((i) => writeOne(context, write, i)));
    if (groupsReads) {
      const joined = withJoinedReads(context, (keys) => readStored(context, keys));
      return await Promise.allSettled(batch.map((item) => writeOne(joined, write, item)));
    }
    return await commitTogether(
      context,
      batch.map((item) => (kv: Kv) => writeOne({ ...context, kv }, write, item)),
    );
  };
  const writeGroup = async (group: readonly T[]): Promise<Outcome[]> => {
    const outcomes = await writeAll(group);
    if (missingRow !== undefined) await writeFollowing(group, outcomes, missingRow, writeAll);
    return outcomes;
  };
  const groupSize = isOneByOne ? 1 : rowsPerGroup;
  // A row may refer to one of an earlier group.
  const maxGroups = isOneByOne || !groupsReads || missingRow !== undefined ? 1 : groupsAtOnce;
  const results: RowResult[] = [];
  const begun: { readonly group: readonly T[]; readonly outcomes: Promise<Outcome[]> }[] = [];
  const finishFirst = async (): Promise<void> => {
    const { group, outcomes } = begun.shift()!;
    for (const [i, outcome] of (await outcomes).entries()) {
      if (outcome.status === "fulfilled") {
        if (outcome.value === undefined) continue;
        const { row, hookErrors } = outcome.value;
        results.push({ ok: true, row, ...(hookErrors.length > 0 && { hookError: hookErrors[0] }) });
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
      begun.push({ group, outcomes: writeGroup(group) });
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

/**
 * Replaces the outcomes of items that failed because the row of an earlier item did not exist yet.
 * They are tried again as long as further rows are written.
 */
async function writeFollowing<T>(
  items: readonly T[],
  outcomes: Outcome[],
  missingRow: (error: unknown) => readonly KvKeyPart[] | undefined,
  writeAll: WriteAll<T>,
): Promise<void> {
  for (let hasProgressed = true; hasProgressed; ) {
    const written = new Set<string>();
    const positions: number[] = [];
    for (const [position, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") {
        if (outcome.value !== undefined) written.add(keyText(outcome.value.row.primaryKey));
        continue;
      }
      const missing = missingRow(outcome.reason);
      // Items after this one are not in the set yet, so only earlier items count.
      if (missing !== undefined && written.has(keyText(missing))) positions.push(position);
    }
    const retried = await writeAll(positions.map((position) => items[position] as T));
    hasProgressed = retried.some(({ status }) => status === "fulfilled");
    for (const [i, outcome] of retried.entries()) outcomes[positions[i] as number] = outcome;
  }
}

/** Embedded databases commit concurrent operations as one, and only they report their limits. */
function groupsCommits(kv: Kv & { readonly limits?: KvLimits }): boolean {
  return kv.limits !== undefined;
}

/** True if every other row would fail too, or the transaction has ended or has to run again. */
function isOfCall({ transaction }: TableContext, error: unknown): boolean {
  if (isHookError(error)) return false;
  return (
    error instanceof InvalidArgumentError ||
    error instanceof StaleSchemaError ||
    error instanceof IndexChangedError ||
    (transaction !== undefined &&
      (error instanceof TransactionConflictError || error instanceof TransactionEndedError))
  );
}
