import type { KvEntry, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import type { TableContext } from "../../context/table-context.js";
import { isExpectedValue, primaryKeyAt } from "../../derived/entries/verify/inspect-entry.js";
import { expectedEntries } from "../../indexes/expected-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { readStored } from "../../rows/read-rows.js";
import { type MigrationRun, maxBatchRows } from "../../run/migration-run.js";
import { readEntriesAfter } from "../../run/read-entries-after.js";

/** An entry of an index of copies that differs from its row. */
export interface StaleCopy {
  /** The key of the entry. */
  readonly key: KvKey;
  /** The primary key of the row that it is a copy of, or null if it names none. */
  readonly primaryKey: readonly KvKeyPart[] | null;
  /**
   * `"row-differs"` if the row has changed in what the copy holds or in its key in the index.
   * `"row-missing"` if the row does not exist.
   */
  readonly reason: "row-differs" | "row-missing";
}

/** The stale copies of an index. */
export interface StaleCopies {
  readonly count: number;
  /** The first 100. */
  readonly first: readonly StaleCopy[];
}

/** The maximum number of stale copies that are listed. The others are only counted. */
const maxListed = 100;
const pauseEvery = 100;

/**
 * Finds the entries of an index whose copies differ from their rows, beside writers. Each suspect
 * is confirmed by a second read of the entry and its row in one snapshot. Nothing is written.
 *
 * @returns `"stopped"` if the signal stopped it.
 */
export async function findStaleCopies(
  context: TableContext,
  index: CompiledIndex,
  run: MigrationRun,
): Promise<StaleCopies | "stopped"> {
  const { kv, model } = context;
  const limit = Math.min(maxBatchRows, run.batchRows);
  const first: StaleCopy[] = [];
  let count = 0;
  let after: KvKey | null = null;
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    const entries: KvEntry<unknown>[] = await readEntriesAfter(
      context,
      [index.place],
      after,
      limit,
    );
    const primaryKeys = entries.map(({ key, value }) => primaryKeyAt(model, index, key, value));
    const rows = await readStored(
      context,
      primaryKeys.flatMap((primaryKey) => (primaryKey ? [rowKey(model, primaryKey)] : [])),
    );
    let read = 0;
    let inspected = 0;
    for (const [i, entry] of entries.entries()) {
      const primaryKey = primaryKeys[i];
      const row = primaryKey && rows[read++];
      if (staleCopy(context, index, entry, primaryKey, row) === undefined) continue;
      if (++inspected % pauseEvery === 0) await run.afterBatch(0);
      const keys = primaryKey ? [entry.key, rowKey(model, primaryKey)] : [entry.key];
      const [entryNow, rowNow] = await kv.getMany<unknown[]>(keys);
      const stale = entryNow && staleCopy(context, index, entryNow, primaryKey, rowNow);
      if (stale === undefined) continue;
      if (count++ < maxListed) first.push(stale);
    }
    await run.afterBatch(entries.length);
    after = entries.at(-1)?.key ?? after;
    if (entries.length < limit) return { count, first };
  }
}

function staleCopy(
  { model }: TableContext,
  index: CompiledIndex,
  { key, value, versionstamp }: KvEntryMaybe<unknown>,
  primaryKey: readonly KvKeyPart[] | undefined,
  row: KvEntryMaybe<unknown> | undefined,
): StaleCopy | undefined {
  if (versionstamp === null) return undefined;
  if (primaryKey === undefined || row === undefined || row.versionstamp === null) {
    return { key, primaryKey: primaryKey ?? null, reason: "row-missing" };
  }
  const expected = expectedEntries(model, [index], row.value, primaryKey);
  const entry = expected.find((candidate) => isSameKey(candidate.key, key));
  if (entry !== undefined && isExpectedValue(model, entry, primaryKey, value)) return undefined;
  return { key, primaryKey, reason: "row-differs" };
}
