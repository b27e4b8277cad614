import type { KvKey, KvKeyPart } from "@keywright/core";
import { createHash } from "@keywright/core/platform";
import type { RowId } from "../../errors/orm-error.js";
import type { RowIssue } from "../../errors/row-issue.js";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import {
  assertArgument,
  key,
  listOf,
  object,
  optional,
  plainObject,
  positiveInteger,
  text,
} from "../../model/shape.js";
import { type SystemShape, systemValue } from "../../state/catalog/system-value.js";
import { type AnyDatabase, tableContextOf } from "../../state/context/any-database.js";
import type { Page, PageOptions } from "../../state/context/page.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readRows } from "../../state/rows/read-rows.js";
import { readEntriesAfter } from "../../state/run/read-entries-after.js";
import { decodeRowCursor, encodeRowCursor } from "../../state/run/row-cursor.js";
import type { RowFailure } from "./upgraded-row.js";

/** A row that a transform could not change. It is stored as before. */
export interface FailedRow {
  readonly model: string;
  /** The primary key. */
  readonly id: RowId;
  /** A sentence that says why it failed. */
  readonly reason: string;
  /** The issues that the schema found in the changed row. */
  readonly issues: readonly RowIssue[];
}

/** Selects a page of failed rows. */
export interface FailedRowsOptions extends Pick<PageOptions, "cursor"> {
  /** The maximum number of rows; 100 by default. */
  readonly take?: number | undefined;
}

export type FailedRowsPage = Page<FailedRow>;

interface RecordedFailure extends RowFailure {
  readonly primaryKey: readonly KvKeyPart[];
}

const failedRowShape: SystemShape<RecordedFailure> = {
  problemOf: object({
    primaryKey: key,
    reason: text,
    issues: optional(listOf(plainObject)),
  }),
  remedy: "delete it, and run migrate again",
};

const defaultTake = 100;
/** These limits keep a record small, whatever the row and its schema are. */
const maxReasonLength = 1000;
const maxIssues = 20;
/** In bytes, even if the database takes longer keys, so that all programs use the same key. */
const maxKeyBytes = 2048;

export function failedRowsPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "failed", model.prefix];
}

/**
 * Returns the key of the record of a failed row, which contains the primary key. If this is too
 * long, the key contains a hash of the primary key instead, and has one key part more than the keys
 * of other rows.
 */
export function failedRowKey(
  { model, limits }: Pick<TableContext, "model" | "limits">,
  primaryKey: readonly KvKeyPart[],
): KvKey {
  const prefix = failedRowsPrefix(model);
  const key = [...prefix, ...primaryKey];
  if (canBeStored(key, Math.min(maxKeyBytes, limits.keyBytes))) return key;
  const hash = createHash("sha256").update(keyText(primaryKey)).digest("hex");
  return [...prefix, ...primaryKey.map(() => ""), hash];
}

/** Returns the record of a failed row, shortened to the limits. */
export function recordedFailure(
  primaryKey: readonly KvKeyPart[],
  { reason, issues }: RowFailure,
): RecordedFailure {
  return {
    primaryKey: [...primaryKey],
    reason: shorten(reason),
    ...(issues !== undefined && { issues: issues.slice(0, maxIssues).map(storedIssue) }),
  };
}

/** Returns an issue with a path that can be stored. Symbols cannot be stored. */
function storedIssue({ path, code, message }: RowIssue): RowIssue {
  const parts = path.map((part) => (typeof part === "symbol" ? String(part) : part));
  return { path: parts, code, message: shorten(message) };
}

function shorten(text: string): string {
  // The cut may leave a lone surrogate, which not every database accepts.
  return (
    text.length > maxReasonLength ? `${text.slice(0, maxReasonLength)}…` : text
  ).toWellFormed();
}

/**
 * Returns the rows that are recorded as failed, in the order of the records' keys. This is the
 * order of the rows, except for rows with long keys.
 *
 * @param after the primary key after which to begin; null to begin at the first row.
 */
export async function readRecordedFailures(
  context: TableContext,
  after: readonly KvKeyPart[] | null,
  limit: number,
): Promise<RecordedFailure[]> {
  const prefix = failedRowsPrefix(context.model);
  const afterKey = after === null ? null : failedRowKey(context, after);
  const entries = await readEntriesAfter<RecordedFailure>(context, prefix, afterKey, limit);
  return entries.map((entry) => systemValue(entry, failedRowShape, context.model.name)!);
}

/**
 * Returns a page of the rows that a transform of a model could not change. Leaves out rows that
 * were deleted or written after they failed.
 *
 * @throws {InvalidArgumentError} if `take` is not a positive integer.
 * @throws {InvalidCursorError} if the cursor is not that of such a page.
 */
export async function findFailedRows(
  database: AnyDatabase,
  query: FailedRowsOptions & { readonly model: string },
): Promise<FailedRowsPage> {
  const { take = defaultTake, cursor } = query;
  const context = tableContextOf(database, query.model);
  assertArgument(query.model, "take", take, positiveInteger, "findFailedRows");
  const { model } = context;
  const items: FailedRow[] = [];
  let after = cursor ? decodeRowCursor(model, cursor) : null;
  let last: KvKey = [];
  for (;;) {
    // One row more than requested shows that there is a next page.
    const limit = Math.min(take - items.length + 1, defaultTake);
    const recorded = await readRecordedFailures(context, after, limit);
    for (const failure of await filterStillFailed(context, recorded)) {
      if (items.length === take) return { items, cursor: encodeRowCursor(last) };
      const { primaryKey, reason, issues = [] } = failure;
      items.push({ model: model.name, id: pointerOf(primaryKey), reason, issues });
      last = primaryKey;
    }
    after = recorded.at(-1)?.primaryKey ?? after;
    if (recorded.length < limit) return { items, cursor: null };
  }
}

async function filterStillFailed(
  context: TableContext,
  recorded: readonly RecordedFailure[],
): Promise<RecordedFailure[]> {
  const view = viewOf(context);
  const rows = await readRows(
    view,
    recorded.map(({ primaryKey }) => primaryKey),
  );
  return recorded.filter((_, position) => {
    const versionstamp = rows[position]?.versionstamp ?? null;
    return versionstamp !== null && view.snapshot.upgradeOf(versionstamp) !== undefined;
  });
}
