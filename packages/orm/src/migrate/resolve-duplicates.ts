import { withIndexStates } from "../catalog/catalog-entry.js";
import { indexEntries } from "../indexes/index-entries.js";
import { isSameKey } from "../indexes/key-parts.js";
import { rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledIndex } from "../model/compiled-model.js";
import { assertObject } from "../query/found-row.js";
import type { TableContext } from "../query/table-context.js";
import { letOthersRun } from "../transaction/let-others-run.js";
import { setUntil } from "../transaction/set-until.js";
import { claimUniqueKey } from "../write/claim-unique-key.js";
import { rowExpireAt } from "../write/row-expiry.js";
import { type Duplicate, duplicateKey, duplicatesPrefix } from "./backfill-state.js";

/** After so many it is somebody else's turn. */
const rowsAtOnce = 100;

/**
 * Goes through the rows that could not enter a unique index, and takes in those that now can. The index goes readable
 * when none is left.
 *
 * @returns those that are left.
 * @throws {StoredRowInvalidError} where one of them was written by hand and is no object.
 */
export async function resolveDuplicates(
  context: TableContext,
  index: CompiledIndex,
): Promise<Duplicate[]> {
  const { kv, model, catalog } = context;
  const left: Duplicate[] = [];
  const prefix = duplicatesPrefix(model, index.name);
  let seen = 0;
  for await (const { value: duplicate } of kv.list<Duplicate>({ prefix })) {
    if (++seen % rowsAtOnce === 0) await letOthersRun();
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
    if (versionstamp !== null) assertObject(model, row, primaryKey);
    const entries = row === null ? [] : indexEntries(model, [index], row, primaryKey);
    const entry = entries.find((candidate) => isSameKey(candidate.key.slice(1), duplicate.value));
    if (entry !== undefined) {
      const claim = await claimUniqueKey(context, entry, primaryKey);
      if (claim.owner !== undefined) return false;
      const expireAt = "expireAt" in rest ? rest.expireAt : undefined;
      const goesAt = await rowExpireAt(context, catalog.snapshot, { primaryKey, expireAt });
      const options = goesAt === undefined ? {} : setUntil(goesAt, Date.now());
      operation.check(...claim.checks).set(entry.key, entry.value, options);
    }
    if ((await operation.commit()).ok) return true;
    await catalog.reload();
  }
}
