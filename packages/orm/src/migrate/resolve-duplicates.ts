import { withIndexStates } from "../catalog/catalog-entry.js";
import { indexEntries } from "../indexes/index-entries.js";
import { isSameKey } from "../indexes/key-parts.js";
import { rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledIndex } from "../model/compiled-model.js";
import type { TableContext } from "../query/table-context.js";
import { claimUniqueKey } from "../write/claim-unique-key.js";
import { rowTimeLeft } from "../write/row-expiry.js";
import { type Duplicate, duplicateKey, duplicatesPrefix } from "./backfill-state.js";

/**
 * Goes through the rows that could not enter a unique index, and takes in those that now can. The index goes readable
 * when none is left.
 *
 * @returns those that are left.
 */
export async function resolveDuplicates(
  context: TableContext,
  index: CompiledIndex,
): Promise<Duplicate[]> {
  const { kv, model, catalog } = context;
  const left: Duplicate[] = [];
  const prefix = duplicatesPrefix(model, index.name);
  for await (const { value: duplicate } of kv.list<Duplicate>({ prefix })) {
    if (!(await resolveDuplicate(context, index, duplicate))) left.push(duplicate);
  }
  while (left.length === 0 && catalog.snapshot.stateOf(index) === "unique-pending") {
    const { entry, check } = catalog.snapshot;
    const readable = withIndexStates(entry, [index], "readable");
    await kv.atomic().check(check).set(check.key, readable).commit();
    await catalog.reload();
  }
  return left;
}

/** Whether a duplicate is one no longer: its row is gone, has another value, or has got its entry. */
async function resolveDuplicate(
  context: TableContext,
  index: CompiledIndex,
  duplicate: Duplicate,
): Promise<boolean> {
  const { kv, model, catalog } = context;
  const { primaryKey } = duplicate;
  const recordKey = duplicateKey(model, duplicate);
  for (;;) {
    const { check } = catalog.snapshot;
    const key = rowKey(model, primaryKey);
    const { value: row, versionstamp, ...rest } = await kv.get<AnyRow>(key);
    const operation = kv.atomic().check(check, { key, versionstamp }).delete(recordKey);
    const entries = row === null ? [] : indexEntries(model, [index], row, primaryKey);
    const entry = entries.find((candidate) => isSameKey(candidate.key.slice(1), duplicate.value));
    if (entry !== undefined) {
      const claim = await claimUniqueKey(context, entry, primaryKey);
      if (claim.owner !== undefined) return false;
      const expireAt = "expireAt" in rest ? rest.expireAt : undefined;
      const expireIn = await rowTimeLeft(context, catalog.snapshot, { primaryKey, expireAt });
      operation.check(...claim.checks).set(entry.key, entry.value, { expireIn });
    }
    if ((await operation.commit()).ok) return true;
    await catalog.reload();
  }
}
