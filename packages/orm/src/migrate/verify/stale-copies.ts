import type { KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import type { TableContext } from "../../context/table-context.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { expectedEntries, readStored } from "../build/expected-entries.js";
import { type MigrationRun, maxBatchRows } from "../run/migration-run.js";
import { isOwnValue, primaryKeyAt } from "./inspect-entry.js";
import { nextEntries } from "./verify-entries.js";

/** An entry of an index of copies that no longer says what its row does. */
export interface StaleCopy {
  /** The key of the entry. */
  readonly key: KvKey;
  /** Of the row that it is a copy of; null where it names none. */
  readonly primaryKey: readonly KvKeyPart[] | null;
  /** The row is another one now, in what the copy holds or in what it is found by; or there is no such row. */
  readonly reason: "row-differs" | "row-missing";
}

/** The stale copies of an index. */
export interface StaleCopies {
  readonly count: number;
  /** The first hundred. */
  readonly first: readonly StaleCopy[];
}

/** So many are told of; the others are counted. */
const mostTold = 100;
const inspectedAtOnce = 100;

/**
 * Finds the entries of an index whose copies differ from their rows, beside writers: what looks stale is read again with its
 * row, both as they are at one time. Changes nothing.
 *
 * @returns `"stopped"` where the signal stopped it.
 * @throws {LeaseLostError} where another runner has the lease.
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
    const entries = await nextEntries(context, index, after, limit);
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
      if (++inspected % inspectedAtOnce === 0) await run.took(0);
      const keys = primaryKey ? [entry.key, rowKey(model, primaryKey)] : [entry.key];
      const [entryNow, rowNow] = await kv.getMany<unknown[]>(keys);
      const stale = entryNow && staleCopy(context, index, entryNow, primaryKey, rowNow);
      if (stale === undefined) continue;
      if (count++ < mostTold) first.push(stale);
    }
    await run.took(entries.length);
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
  const own = expectedEntries(model, [index], row.value, primaryKey);
  const entry = own.find((candidate) => isSameKey(candidate.key, key));
  if (entry !== undefined && isOwnValue(model, entry, primaryKey, value)) return undefined;
  return { key, primaryKey, reason: "row-differs" };
}
