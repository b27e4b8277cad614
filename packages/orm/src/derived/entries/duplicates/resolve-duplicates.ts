import type { AtomicOperation, KvCommitError, KvCommitResult } from "@keywright/core";
import type { CompiledIndex } from "../../../model/compiled-model.js";
import { expectedEntries } from "../../../model/keys/expected-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import { currentTime, storedTime } from "../../../model/rows/time.js";
import {
  type Duplicate,
  duplicateKey,
  duplicateShape,
  duplicatesPrefix,
} from "../../../state/catalog/backfill-state.js";
import { withIndexStates } from "../../../state/catalog/catalog-entry.js";
import { systemValue } from "../../../state/catalog/system-value.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { viewOf } from "../../../state/context/read-view.js";
import { setUntil } from "../../../state/transaction/buffer/set-until.js";
import { again, retry } from "../../../state/transaction/retry.js";
import { rowExpireAt } from "../../expiry/row-expiry.js";
import { claimUniqueKey } from "./claim-unique-key.js";

/** Commits an operation. A run of a migration does this under its lease. */
export type Commit = (operation: AtomicOperation) => Promise<KvCommitResult | KvCommitError>;

/** The duplicates that are left. */
export interface DuplicatesLeft {
  readonly count: number;
  /** The first duplicates, at most `maxListed`. */
  readonly duplicates: readonly Duplicate[];
}

/** Options for resolving duplicates. */
export interface ResolveOptions {
  readonly commit: Commit;
  /** The maximum number of remaining duplicates that are returned. The others are only counted. */
  readonly maxListed: number;
  /** Called after each duplicate. Resolves to false to stop. */
  readonly shouldContinue: () => Promise<boolean>;
}

/**
 * Checks the rows that could not enter a unique index, and adds those that now can. The index
 * becomes readable if none is left.
 *
 * @returns the duplicates that are left, or `"stopped"` if `shouldContinue` resolved to false.
 */
export async function resolveDuplicates(
  store: ModelStore,
  index: CompiledIndex,
  { commit, maxListed, shouldContinue }: ResolveOptions,
): Promise<DuplicatesLeft | "stopped"> {
  const duplicates: Duplicate[] = [];
  let count = 0;
  const prefix = duplicatesPrefix(store.model, index.name);
  for await (const entry of store.kv.list({ prefix })) {
    const duplicate = systemValue(entry, duplicateShape, store.model.name);
    if (duplicate === null) continue;
    if (!(await resolveDuplicate(store, index, duplicate, commit))) {
      count++;
      if (duplicates.length < maxListed) duplicates.push(duplicate);
    }
    if (!(await shouldContinue())) return "stopped";
  }
  if (count === 0) await makeReadable(store, index, commit);
  return { count, duplicates };
}

/**
 * Makes a unique-pending index readable, if no duplicate is recorded. Only a repair of the index
 * records new ones. It changes the catalog in the same commit, so that the commit here fails.
 */
export async function makeReadable(
  { kv, model, catalog }: ModelStore,
  index: CompiledIndex,
  commit: Commit,
): Promise<void> {
  while (catalog.snapshot.stateOf(index) === "unique-pending") {
    const { entry, check } = catalog.snapshot;
    const duplicates = kv.list({ prefix: duplicatesPrefix(model, index.name) }, { limit: 1 });
    if ((await duplicates.next()).done !== true) return;
    const readable = withIndexStates(entry, [index], "readable");
    await commit(kv.atomic().check(check).set(check.key, readable));
    await catalog.reload();
  }
}

/**
 * Checks a recorded duplicate, and deletes the record if it no longer applies: the row is gone, it
 * has another value, or it gets its entry now.
 *
 * @returns false if another row still has its value.
 */
export async function resolveDuplicate(
  store: ModelStore,
  index: CompiledIndex,
  duplicate: Duplicate,
  commit: Commit,
): Promise<boolean> {
  const { kv, model, catalog } = store;
  const { primaryKey } = duplicate;
  const recordKey = duplicateKey(model, duplicate);
  return await retry(async () => {
    const { snapshot } = catalog;
    const view = viewOf(store, snapshot);
    const key = rowKey(model, primaryKey);
    const stored = await kv.get(key);
    const { value: row, versionstamp } = stored;
    const operation = kv.atomic().check(snapshot.check, { key, versionstamp }).delete(recordKey);
    const entries = expectedEntries(model, [index], row, primaryKey);
    const entry = entries.find((candidate) => isSameKey(candidate.key.slice(1), duplicate.value));
    if (entry !== undefined) {
      const claim = await claimUniqueKey(view, entry, primaryKey);
      if (claim.owner !== undefined) return false;
      const expireAt = storedTime(versionstamp === null ? undefined : stored.expireAt);
      const expiryTime = await rowExpireAt(view, { primaryKey, expireAt });
      const options = expiryTime === undefined ? {} : setUntil(expiryTime, currentTime());
      operation.check(...claim.checks).set(entry.key, entry.value, options);
    }
    if ((await commit(operation)).ok) return true;
    await catalog.reload();
    // Another program has resolved all duplicates, or the index is being dropped.
    return catalog.snapshot.stateOf(index) === "unique-pending" ? again : true;
  });
}
