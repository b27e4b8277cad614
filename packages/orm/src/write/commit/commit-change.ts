import type {
  AtomicCheck,
  AtomicOperation,
  Footprint,
  KvCommitError,
  KvCommitResult,
  KvKey,
  KvKeyPart,
  Turn,
  Turns,
} from "@keywright/core";
import { reloadCopying } from "../../derived/copies/plan-with-copies.js";
import { addWrites, type Effects, inOneMillisecond, writesAt } from "../../derived/effects.js";
import { claimUniqueKey, takenError } from "../../derived/entries/duplicates/claim-unique-key.js";
import { hasExpired } from "../../derived/expiry/row-expiry.js";
import type { PlannedChange, PlannedRow } from "../../derived/plan-row.js";
import { UniqueConstraintError, VersionConflictError } from "../../errors/row-errors.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf, rowKey } from "../../model/keys/primary-key.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { isRow } from "../../model/rows/stored-row.js";
import { currentTime, type Time } from "../../model/rows/time.js";
import { capabilitiesOf } from "../../state/catalog/capabilities-of.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { kvWith } from "../../state/context/kv/kv-with.js";
import { viewOf } from "../../state/context/read-view.js";
import { isInScope } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { writableCatalog } from "../../state/context/writable-catalog.js";
import { keyIdOf } from "../../state/transaction/buffer/key-id.js";
import { assertWithin, limitErrorOf } from "../../state/transaction/limit-error-of.js";
import { FailedAttempt, postponed, retry } from "../../state/transaction/retry.js";
import { planChange } from "./plan-change.js";

/** Unique key → the checks under which a change may take it. Other keys must have no entry. */
type Takeovers = ReadonlyMap<string, readonly AtomicCheck[]>;

const maxAttempts = 100;
const noTakeovers: Takeovers = new Map();

/**
 * Commits a change: the row and its index entries together, under checks on the row, on each unique
 * key that it takes, and on the catalog entry. If a check fails because of a concurrent write,
 * `change` is called again with the current catalog. The commit checks the catalog that it got.
 *
 * @param change returns the row to write, and the row on which the change is based. With a turn, a
 * row that came with it can be read from its second argument, which is the context otherwise.
 * @param namedKey returns the primary key of the row if it is known before the row is read.
 * @returns the row as it was written, or as it was if it is deleted, with the versionstamp of the
 * commit. Within a transaction the versionstamp is provisional.
 * @throws {UniqueConstraintError} if another row has the primary key or a unique key.
 * @throws {StaleSchemaError} if the database has indexes that this program does not know.
 * @throws {LimitExceededError} if the change is too large for one commit, or a key or value is too
 * large.
 * @throws {VersionConflictError} after 100 attempts.
 */
export function commitChange(
  context: TableContext,
  change: (catalog: CatalogSnapshot, reads: TableContext) => PlannedRow | Promise<PlannedRow>,
  namedKey?: () => readonly KvKeyPart[] | undefined,
): Promise<FoundRow> {
  let takeovers = noTakeovers;
  const { model } = context;
  const turns = turnsOfWrites(context);
  const commitOnce = async (
    _number: number,
    isFinal: boolean,
    turn: Turn | undefined,
  ): Promise<FoundRow | FailedAttempt> => {
    if (turns?.isUsed && !isFinal) {
      const key = namedKey?.();
      const footprint = key && footprintOfRow(context, key);
      if (footprint && turns.conflictsWith(footprint)) return postponed(footprint);
    }
    const preparing = writableCatalog(context);
    const catalog = preparing instanceof Promise ? await preparing : preparing;
    const changing = change(catalog, turn === undefined ? context : withEntriesOf(turn, context));
    const changed = changing instanceof Promise ? await changing : changing;
    const planning = planChange(context, catalog, changed);
    const planned = planning instanceof Promise ? await planning : planning;
    const { primaryKey, effects } = planned;
    if (turns?.isUsed && !isFinal) {
      const footprint = footprintOf(context, catalog, effects);
      if (turns.conflictsWith(footprint)) return postponed(footprint);
    }
    let result: KvCommitResult | KvCommitError;
    const committedAt = performance.now();
    try {
      const operation = inOneMillisecond(effects, (now) =>
        commitOperation(context, catalog, effects, takeovers, now),
      );
      if (turns !== undefined && (turn !== undefined || !isFinal)) operation.inTurn?.(turn);
      result = await operation.commit();
    } catch (error) {
      throw limitErrorOf(error);
    }
    if (result.ok) {
      if (context.transaction === undefined)
        context.catalog.confirm(catalog, committedAt, result.versionstamp);
      if (effects.upkeep.length > 0) await runUpkeep(context, effects);
      const row = planned.row ?? changed.before?.row;
      return { primaryKey, row: row!, versionstamp: result.versionstamp };
    }
    if (result.isPostponed) return postponed(footprintOf(context, catalog, effects));
    takeovers = await resolveConflict(context, planned);
    return new FailedAttempt(
      (attempts) => new VersionConflictError(model.name, pointerOf(primaryKey), attempts),
      () => footprintOf(context, catalog, effects),
    );
  };
  return retry(commitOnce, { maxAttempts, pauses: "short", turns });
}

/**
 * Returns the line in which writes of single rows take turns. There is none within a transaction,
 * which takes turns itself, nor if commits wait for each other because they are made together. A
 * `before` hook could write rows itself, and would then wait for the turn of the call.
 */
function turnsOfWrites({ kv, transaction, settings, model }: TableContext): Turns | undefined {
  if (transaction !== undefined || !capabilitiesOf(kv).returnsExpiry) return undefined;
  const hooks = settings.hooks[model.name];
  return (hooks?.beforeUpdate ?? hooks?.beforeDelete) ? undefined : capabilitiesOf(kv).turns;
}

/** Returns a context whose reads of single keys return the entries that came with a turn. */
function withEntriesOf(turn: Turn, context: TableContext): TableContext {
  const { kv } = context;
  if (kv.takeEntry === undefined || turn.takeEntry === undefined) return context;
  const get = <T>(key: KvKey) => kv.takeEntry!<T>(turn, key) ?? kv.get<T>(key);
  return { ...context, kv: kvWith(kv, { get }) };
}

function footprintOfRow({ kv, model }: TableContext, key: readonly KvKeyPart[]): Footprint {
  const ids = new Set([keyIdOf(rowKey(model, key), capabilitiesOf(kv).keyOrder)]);
  return { reads: ids, writes: ids };
}

function footprintOf(
  { kv }: TableContext,
  catalog: CatalogSnapshot,
  { checks, claims, writes }: Effects,
): Footprint {
  const { keyOrder } = capabilitiesOf(kv);
  const idsOf = (items: readonly { readonly key: KvKey }[]) =>
    new Set(items.map(({ key }) => keyIdOf(key, keyOrder)));
  return {
    reads: idsOf([catalog.check, ...checks, ...claims]),
    writes: idsOf(writesAt(writes, currentTime())),
  };
}

/** Does the work that follows a commit. For a transaction, it follows the commit of that. */
export async function runUpkeep({ transaction }: TableContext, { upkeep }: Effects): Promise<void> {
  for (const run of upkeep) {
    if (transaction === undefined) await run();
    else transaction.afterCommit(run);
  }
}

/**
 * Builds the operation of a change, with all of its checks.
 *
 * @param now the time from which the lifetime of each row is counted.
 * @throws {LimitExceededError} if the change has more checks or mutations than the limits allow.
 */
export function commitOperation(
  { kv, limits, transaction }: TableContext,
  catalog: CatalogSnapshot,
  effects: Effects,
  takeovers: Takeovers,
  now: Time,
): AtomicOperation {
  const checks = [catalog.check, ...effects.checks];
  for (const claim of effects.claims) {
    const takeover = takeovers.size === 0 ? undefined : takeovers.get(keyText(claim.key));
    if (takeover === undefined) checks.push({ key: claim.key, versionstamp: null });
    else checks.push(...takeover);
  }
  const writes = writesAt(effects.writes, now);
  // A transaction checks the limits for all of its commits together.
  if (transaction === undefined) {
    assertWithin(limits, "checks", checks.length);
    assertWithin(limits, "mutations", writes.length);
  }
  const operation = kv.atomic().check(...checks);
  addWrites(operation, writes, now);
  return operation;
}

/** Finds out which check failed. Throws if the change cannot be made. */
async function resolveConflict(context: TableContext, change: PlannedChange): Promise<Takeovers> {
  const { kv, model, catalog } = context;
  if (await catalog.reload()) return noTakeovers;
  await reloadCopying(context);
  const { versionstamp, value: row } = await kv.get(rowKey(model, change.primaryKey));
  if (versionstamp !== change.versionstamp) {
    if (change.versionstamp !== null) return noTakeovers;
    // An expired row can be replaced. `plan` finds out about it.
    if (await hasExpired(viewOf(context, catalog.snapshot), change.primaryKey)) return noTakeovers;
    const value = change.primaryKey;
    const ownerId = pointerOf(value);
    const isDeleted = isRow(row) && isMarked(model, row) && isInScope(context, row);
    const conflict = { index: "primaryKey", fields: model.primaryKey, value, ownerId, isDeleted };
    throw new UniqueConstraintError(model.name, conflict);
  }
  const takeovers = new Map<string, readonly AtomicCheck[]>();
  for (const entry of change.effects.claims) {
    const { index, key } = entry;
    const { owner, checks } = await claimUniqueKey(
      viewOf(context, catalog.snapshot),
      entry,
      change.primaryKey,
    );
    if (owner !== undefined) {
      const taken = { index, key, owner };
      if (!context.deferredKeys?.mayTakeFrom(owner)) throw takenError(model, taken);
      context.deferredKeys.add(taken);
    }
    takeovers.set(keyText(key), checks);
  }
  return takeovers;
}
