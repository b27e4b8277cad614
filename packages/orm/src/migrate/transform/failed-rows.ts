import { createHash } from "node:crypto";
import type { KvKey, KvKeyPart } from "@keywright/core";
import { type AnyDatabase, tableContextOf } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import type { RowId } from "../../errors/orm-error.js";
import type { RowIssue } from "../../errors/row-errors.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { keyText } from "../../indexes/key-text.js";
import { pointerOf } from "../../indexes/primary-key.js";
import { type CompiledModel, ownPrefix } from "../../model/compiled-model.js";
import { readRows } from "../../query/read/read-rows.js";
import { entriesAfter } from "../run/entries-after.js";
import { decodeRowCursor, encodeRowCursor } from "../run/row-cursor.js";
import type { RowFailure } from "./upgraded-row.js";

/** A row that a change of all rows could not take: it is as it was before. */
export interface FailedRow {
  readonly model: string;
  /** Its primary key. */
  readonly id: RowId;
  /** Why, in a sentence. */
  readonly reason: string;
  /** What its schema finds wrong with the row that it would become. */
  readonly issues: readonly RowIssue[];
}

/** Which page of the failed rows, and how long it is. */
export interface FailedRowsOptions {
  /** Rows at the most; 100 without it. */
  readonly take?: number | undefined;
  /** That of the page before. */
  readonly cursor?: string | null | undefined;
}

/** A page of failed rows. */
export interface FailedRowsPage {
  readonly items: readonly FailedRow[];
  /** Of the next page; null behind the last one. */
  readonly cursor: string | null;
}

/** A failed row as it is stored. */
interface StoredFailure extends RowFailure {
  readonly primaryKey: readonly KvKeyPart[];
}

/** A failed row that is stored, under its primary key. */
export interface RecordedFailure {
  readonly primaryKey: readonly KvKeyPart[];
  readonly failure: RowFailure;
}

const defaultTake = 100;
/** So that a record is small, whatever the row and its schema are. */
const longestReason = 1000;
const mostIssues = 20;
/** A key has so many bytes at the most with any limits of the database, so that all programs have one key for a row. */
const longestKey = 2048;

/** The beginning of the keys of a model's failed rows. */
export function failedRowsPrefix(model: CompiledModel): KvKey {
  return [ownPrefix, "failed", model.prefix];
}

/**
 * Where it is written that a row has failed, and why: under its primary key. Where that is too long, beside what such a key
 * begins with, it is a hash of it, as one part more than a primary key has.
 */
export function failedRowKey(
  { model, limits }: Pick<TableContext, "model" | "limits">,
  primaryKey: readonly KvKeyPart[],
): KvKey {
  const prefix = failedRowsPrefix(model);
  const key = [...prefix, ...primaryKey];
  if (canBeStored(key, Math.min(longestKey, limits.keyBytes))) return key;
  const hash = createHash("sha256").update(keyText(primaryKey)).digest("hex");
  return [...prefix, ...primaryKey.map(() => ""), hash];
}

/** What is written there. */
export function storedFailure(
  primaryKey: readonly KvKeyPart[],
  { reason, issues }: RowFailure,
): unknown {
  const stored: StoredFailure = {
    primaryKey: [...primaryKey],
    reason: shortened(reason),
    ...(issues !== undefined && { issues: issues.slice(0, mostIssues).map(storedIssue) }),
  };
  return stored;
}

/** An issue whose path can be stored: a symbol cannot. */
function storedIssue({ path, code, message }: RowIssue): RowIssue {
  const parts = path.map((part) => (typeof part === "symbol" ? String(part) : part));
  return { path: parts, code, message: shortened(message) };
}

function shortened(text: string): string {
  // A lone surrogate, as a cut may leave one, is no text that every database takes.
  return (text.length > longestReason ? `${text.slice(0, longestReason)}…` : text).toWellFormed();
}

/**
 * The rows that are recorded as failed, in the order of the records' keys, which is that of the rows' but for long ones.
 *
 * @param after the primary key behind which they begin; null for the first ones.
 */
export async function recordedFailures(
  context: TableContext,
  after: readonly KvKeyPart[] | null,
  limit: number,
): Promise<RecordedFailure[]> {
  const { kv, model, limits } = context;
  const prefix = failedRowsPrefix(model);
  const last = after === null ? null : failedRowKey(context, after);
  const entries = await entriesAfter<StoredFailure>(kv, limits, prefix, last, limit);
  return entries.map(({ value: { primaryKey, ...failure } }) => ({ primaryKey, failure }));
}

/**
 * A page of the rows that a change of all rows could not take, in the order of their records. Rows that were deleted since,
 * or written, are none of them any more.
 *
 * @throws {RangeError} for a `take` that is no positive integer.
 * @throws {InvalidCursorError} for what is no cursor of such a page.
 */
export async function listFailedRows(
  context: TableContext,
  { take = defaultTake, cursor }: FailedRowsOptions = {},
): Promise<FailedRowsPage> {
  if (!Number.isSafeInteger(take) || take < 1) {
    throw new RangeError(`take is a positive integer, not ${take}.`);
  }
  const { model } = context;
  const items: FailedRow[] = [];
  let after = cursor ? decodeRowCursor(model, cursor) : null;
  let last: KvKey = [];
  for (;;) {
    // One more than asked for tells whether there is a next page.
    const limit = Math.min(take - items.length + 1, defaultTake);
    const recorded = await recordedFailures(context, after, limit);
    for (const { primaryKey, failure } of await stillFailed(context, recorded)) {
      if (items.length === take) return { items, cursor: encodeRowCursor(last) };
      const { reason, issues = [] } = failure;
      items.push({ model: model.name, id: pointerOf(primaryKey), reason, issues });
      last = primaryKey;
    }
    after = recorded.at(-1)?.primaryKey ?? after;
    if (recorded.length < limit) return { items, cursor: null };
  }
}

/** Those of them that are as they were when they failed. */
async function stillFailed(
  context: TableContext,
  recorded: readonly RecordedFailure[],
): Promise<RecordedFailure[]> {
  const rows = await readRows(
    context,
    recorded.map(({ primaryKey }) => primaryKey),
  );
  const { snapshot } = context.catalog;
  return recorded.filter((_, position) => {
    const versionstamp = rows[position]?.versionstamp ?? null;
    return versionstamp !== null && snapshot.upgradeOf(versionstamp) !== undefined;
  });
}

/** The rows that a change of all rows could not take, page by page. */
export async function findFailedRows(
  database: AnyDatabase,
  query: FailedRowsOptions & { readonly model: string },
): Promise<FailedRowsPage> {
  return await listFailedRows(tableContextOf(database, query.model), query);
}
