import type { KvChange } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { isSameData } from "../../model/rows/is-same-data.js";
import type { TableContext } from "../../state/context/table-context.js";
import { rowFilterOf } from "../find/rows/row-filter.js";
import { resultRow } from "../find/rows/shaped-result.js";
import { type CommitLog, logOf } from "./commit-log.js";
import { LoggedRows } from "./logged-rows.js";

/** Which changes are returned, for any model. */
export interface AnyChangesQuery {
  readonly where?: AnyRow | undefined;
  readonly filter?: ((row: never) => boolean) | undefined;
  readonly after?: string | undefined;
  readonly live?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * How a commit has changed a row. `"expire"` is the removal of a row some time after it has
 * expired.
 */
export type RowChangeType = "create" | "update" | "delete" | "expire";

/** A change of a row, for any model. */
export interface AnyRowChange {
  readonly type: RowChangeType;
  readonly key: AnyRow;
  readonly before: AnyRow | null;
  readonly after: AnyRow | null;
}

/** A commit with the changes of rows of a model, for any model. */
export interface AnyRowCommit {
  readonly versionstamp: string;
  readonly time: Date;
  readonly context: unknown;
  readonly changes: readonly AnyRowChange[];
}

/** What decodes the changes of a call. */
export interface RowChangeDecoder {
  readonly context: TableContext;
  readonly rows: LoggedRows;
  readonly matches: (row: AnyRow) => boolean;
  /** True if the call wants all rows of the model. */
  readonly isWhole: boolean;
}

/**
 * Yields the commits of the log that have changed rows of a model, in their order.
 *
 * @param context also reads rows that are marked as deleted.
 * @throws the errors of `kv.changes`, and those of decoding a row of the log.
 */
export async function* rowChanges(
  context: TableContext,
  query: AnyChangesQuery,
): AsyncGenerator<AnyRowCommit> {
  const { model, catalog } = context;
  const log: CommitLog = logOf(context);
  const { after, live, signal } = query;
  const decoder = decoderOf(context, log, query);
  await catalog.assertSameKey();
  for await (const commit of log.changes({ after, live, signal, prefix: [model.place] })) {
    const { versionstamp, time, context: said } = commit;
    const changes: AnyRowChange[] = [];
    for (const change of commit.changes) {
      const decoded = await rowChangeOf(decoder, change);
      if (decoded !== undefined) changes.push(decoded);
    }
    if (changes.length > 0) yield { versionstamp, time, context: said, changes };
  }
}

/** @param context also reads rows that are marked as deleted. */
export function decoderOf(
  context: TableContext,
  log: CommitLog,
  query: AnyChangesQuery,
): RowChangeDecoder {
  return {
    context,
    rows: new LoggedRows(context, log),
    matches: matcherOf(context, query),
    isWhole: context.scope === undefined && query.where === undefined && query.filter === undefined,
  };
}

/**
 * Returns a change of a row as the caller sees it: a row that enters is created, one that leaves is
 * deleted. Undefined if the change is not of a row, or not seen.
 */
export async function rowChangeOf(
  decoder: RowChangeDecoder,
  change: KvChange,
): Promise<AnyRowChange | undefined> {
  const { context, isWhole } = decoder;
  const { model } = context;
  const primaryKey = change.key.slice(1);
  if (primaryKey.length !== model.primaryKey.length) return undefined;
  const seen = async (stored: KvChange["before"]) => {
    const found = await decoder.rows.rowOf(primaryKey, stored);
    if (found === undefined || !decoder.matches(found.row)) return null;
    return await resultRow(context, found.row);
  };
  const [before, after] = [await seen(change.before), await seen(change.after)];
  const isExpiry = change.type === "expire";
  // Some engines do not tell which row has expired, so it may be any.
  const isUnknown = isExpiry && change.before === null && isWhole;
  if (before === null && after === null && !isUnknown) return undefined;
  const row = after ?? before;
  const key = model.primaryKey.map((field, i) => [field, row?.[field] ?? primaryKey[i]]);
  const leaves = isExpiry ? "expire" : "delete";
  const type = after === null ? leaves : before === null ? "create" : "update";
  return { type, key: Object.fromEntries(key), before, after };
}

function matcherOf({ model }: TableContext, query: AnyChangesQuery): (row: AnyRow) => boolean {
  const { where = {} } = query;
  const filter = rowFilterOf(model, query.filter);
  const conditions = Object.entries(where).filter(([, value]) => value !== undefined);
  return (row) =>
    conditions.every(([field, value]) => isSameData(row[field], value)) &&
    (filter === undefined || filter(row));
}
