import type { AtomicCheck, Kv, KvKey, KvKeyPart } from "@keywright/core";
import type { ModelStore, TableLimits } from "../context/model-store.js";
import { isLimitError } from "../transaction/limit-error-of.js";
import type { MigrationRun } from "./migration-run.js";
import { readEntriesAfter } from "./read-entries-after.js";

const maxBatchKeys = 500;

/** A database with the catalog entry under whose check keys are deleted. */
export interface ClearedDatabase {
  readonly kv: Kv;
  readonly limits: TableLimits;
  readonly catalog: { readonly snapshot: { readonly check: AtomicCheck } };
}

interface ClearOptions {
  /** By places: the number of parts of the keys that are deleted. Other keys of the place stay. */
  readonly keyLengths?: ReadonlyMap<KvKeyPart, number> | undefined;
  /** Called with the number of keys that each commit has deleted. */
  readonly onKeys?: ((keys: number) => void) | undefined;
}

/**
 * Deletes the keys with some prefixes in batches, as long as the catalog entry does not change. A
 * batch that the database refuses as too large is halved.
 *
 * @returns false if the catalog entry changed, `"stopped"` if the signal was aborted.
 */
export async function clearPrefixes(
  database: ClearedDatabase,
  run: MigrationRun,
  prefixes: readonly KvKey[],
  options: ClearOptions = {},
): Promise<boolean | "stopped"> {
  for (const prefix of prefixes) {
    const isClear = await clearPrefix(database, run, prefix, options);
    if (isClear !== true) return isClear;
  }
  return true;
}

/**
 * Deletes the keys with a prefix, also if the catalog entry changes.
 *
 * @returns false if the signal was aborted.
 */
export async function clearRecords(
  store: ModelStore,
  run: MigrationRun,
  prefix: KvKey,
): Promise<boolean> {
  for (;;) {
    const isClear = await clearPrefix(store, run, prefix, {});
    if (isClear !== false) return isClear === true;
    await store.catalog.reload();
  }
}

async function clearPrefix(
  { kv, limits, catalog }: ClearedDatabase,
  run: MigrationRun,
  prefix: KvKey,
  { keyLengths, onKeys }: ClearOptions,
): Promise<boolean | "stopped"> {
  const { check } = catalog.snapshot;
  const keyLength = keyLengths?.get(prefix[0]!);
  let size = Math.max(1, Math.min(maxBatchKeys, limits.mutations - 1));
  let after: KvKey | null = null;
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    const limit = Math.min(size, run.batchRows);
    const entries: readonly { readonly key: KvKey }[] = await readEntriesAfter(
      { kv, limits },
      prefix,
      after,
      limit,
    );
    const keys = entries.flatMap(({ key }) =>
      keyLength === undefined || key.length === keyLength ? [key] : [],
    );
    if (keys.length > 0) {
      const operation = kv.atomic().check(check);
      try {
        for (const key of keys) operation.delete(key);
        if (!(await run.lease.commit(operation)).ok) return false;
      } catch (error) {
        if (!isLimitError(error) || limit === 1) throw error;
        size = Math.ceil(limit / 2);
        continue;
      }
      onKeys?.(keys.length);
    }
    await run.afterBatch(entries.length);
    if (entries.length < limit) return true;
    after = entries.at(-1)?.key ?? after;
  }
}
