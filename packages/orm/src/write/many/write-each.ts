import type { Kv, KvKeyPart, KvLimits } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import type { RowId } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { IndexChangedError, StaleSchemaError } from "../../errors/schema-errors.js";
import {
  TransactionConflictError,
  TransactionEndedError,
} from "../../errors/transaction-errors.js";
import { keyText } from "../../indexes/key-text.js";
import { letOthersRun } from "../../transaction/let-others-run.js";
import { callsAfterHooks, catchAfterHooks } from "../input/catch-after-hooks.js";
import { isHookError } from "../input/hook-errors.js";
import { commitTogether } from "./commit-together.js";
import type { RowResult } from "./row-result.js";

/** Writes of many rows, each of which may fail without the others. */
export interface EachWrite<T> {
  readonly items: readonly T[];
  /** Writes the row of an item; undefined where there is nothing to write any more. */
  readonly write: (context: TableContext, item: T) => Promise<FoundRow | undefined>;
  /** The primary key of an item's row, where it is known before it is written. */
  readonly idOf?: (item: T) => RowId;
  /** Write one row after the other: each may take several commits. */
  readonly isAlone?: boolean;
  /**
   * The primary key of the row of the same model for want of which an item's write failed. Where an item before it has
   * that row, it is written again.
   */
  readonly missingRow?: (error: unknown) => readonly KvKeyPart[] | undefined;
}

/** A row that was written, and what hooks behind that threw. */
interface Written {
  readonly row: FoundRow;
  readonly hookErrors: readonly unknown[];
}

type Outcome = PromiseSettledResult<Written | undefined>;

/** Writes items, and says what has become of each. */
type WriteAll<T> = (items: readonly T[]) => Promise<Outcome[]>;

/** So many rows are written at once. More would not be faster, and would be in memory together. */
const rowsAtOnce = 100;

/**
 * Writes rows as if each were written by a call of its own, and says what has become of every row, in the order of the
 * items. A hundred are written at once, in commits that they share: an embedded database puts together what is on
 * its way at the same time, on others it is done here.
 *
 * @throws what is the fault of the call and not of a row, such as an option that is not valid. Rows before it stay written.
 */
export async function writeEach<T>(
  context: TableContext,
  writes: EachWrite<T>,
): Promise<RowResult[]> {
  const { items, idOf, isAlone = false } = writes;
  const isOneByOne = isAlone || context.transaction !== undefined;
  const atOnce = isOneByOne ? 1 : rowsAtOnce;
  const write = isOneByOne || groupsCommits(context.kv) ? writeAtOnce : writeTogether;
  const writeAll: WriteAll<T> = (some) => write(context, writes, some);
  const results: RowResult[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0 && from % rowsAtOnce === 0) await letOthersRun();
    const chunk = items.slice(from, from + atOnce);
    const outcomes = await writeAll(chunk);
    if (writes.missingRow !== undefined) {
      await writeFollowing(chunk, outcomes, writes.missingRow, writeAll);
    }
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") {
        if (outcome.value !== undefined) results.push(resultOf(outcome.value));
        continue;
      }
      const error: unknown = outcome.reason;
      if (isOfCall(context, error)) throw error;
      results.push({ ok: false, ...(idOf && { id: idOf(chunk[i] as T) }), error });
    }
  }
  return results;
}

async function writeAtOnce<T>(
  context: TableContext,
  { write }: EachWrite<T>,
  items: readonly T[],
): Promise<Outcome[]> {
  return await Promise.allSettled(items.map((item) => writeOne(context, write, item)));
}

async function writeTogether<T>(
  context: TableContext,
  { write }: EachWrite<T>,
  items: readonly T[],
): Promise<Outcome[]> {
  const writes = items.map((item) => (kv: Kv) => writeOne({ ...context, kv }, write, item));
  return await commitTogether(context, writes);
}

async function writeOne<T>(
  context: TableContext,
  write: EachWrite<T>["write"],
  item: T,
): Promise<Written | undefined> {
  const caught = callsAfterHooks(context) ? catchAfterHooks(context) : undefined;
  const row = await write(caught?.context ?? context, item);
  return row && { row, hookErrors: caught?.errors ?? [] };
}

function resultOf({ row, hookErrors }: Written): RowResult {
  return hookErrors.length === 0 ? { ok: true, row } : { ok: true, row, hookError: hookErrors[0] };
}

/**
 * Writes those items again that failed because a row was not there yet which an item before them has: they were on their way
 * at the same time. Goes on as long as that helps, and puts what comes of it in the place of the outcomes.
 */
async function writeFollowing<T>(
  items: readonly T[],
  outcomes: Outcome[],
  missingRow: (error: unknown) => readonly KvKeyPart[] | undefined,
  writeAll: WriteAll<T>,
): Promise<void> {
  for (let helped = true; helped; ) {
    const written = new Set<string>();
    const again: number[] = [];
    for (const [place, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") {
        if (outcome.value !== undefined) written.add(keyText(outcome.value.row.primaryKey));
        continue;
      }
      const missing = missingRow(outcome.reason);
      // Those behind it are not in the set yet.
      if (missing !== undefined && written.has(keyText(missing))) again.push(place);
    }
    const repeated = await writeAll(again.map((place) => items[place] as T));
    helped = repeated.some(({ status }) => status === "fulfilled");
    for (const [i, outcome] of repeated.entries()) outcomes[again[i] as number] = outcome;
  }
}

/** An embedded database, which says what its limits are, writes the commits that are on their way at one time as one. */
function groupsCommits(kv: Kv & { readonly limits?: KvLimits }): boolean {
  return kv.limits !== undefined;
}

/** Every other row would fail in the same way, or the transaction is over: it has to be run again. */
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
